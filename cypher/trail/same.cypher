// purpose: Verifications of claims that came to a result, a verdict or undecided, with the same settings on the same content.
// param process_id: string - the process
// param content_hash: string - the content
// param settings: list - the settings, each as JSON: as asked for, and as an endpoint may have taken them
// param claim_ids: list - the claims
// param matched: string - how the reason begins of a verdict that a person's match kept
// column verification_id: string - the verification
// column claim_id: string - the claim
// column claim: string - its text as it was verified
// column node_id: string - the node that it was about
// column sub_claims: list - the sub-claims that were used
// column decomposed: boolean - whether a model was asked for them
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready' AND p.content_hash = $content_hash
UNWIND $claim_ids AS claim_id
MATCH (c:Claim {process_id: $process_id, claim_id: claim_id})
      <-[:VERIFIES]-(v:Verification {method: 'veritrail'})
WHERE v.status IN ['succeeded', 'undecided'] AND v.settings IN $settings AND v.content_hash = $content_hash
  AND NOT coalesce(v.reuse_reason STARTS WITH $matched, false)
RETURN v.verification_id AS verification_id, c.claim_id AS claim_id, v.claim AS claim,
       v.node_id AS node_id, v.sub_claims AS sub_claims, EXISTS {
         MATCH (v)-[:TOOK]->(s:Step)
         WHERE s.step = 'sub_claim_decomposition'
       } AS decomposed
ORDER BY v.created_at, v.verification_id
