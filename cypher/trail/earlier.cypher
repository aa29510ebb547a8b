// purpose: Verifications that succeeded on a content, for claims of another content to be compared with.
// param process_id: string - the process that holds their trails
// param content_hash: string - the content
// param settings: list - the settings that are compared, each as JSON: as asked for, and as an endpoint may have taken them
// column verification_id: string - the verification
// column claim_id: string - the claim
// column claim: string - its text as it was verified
// column node_id: string - the node that it was about
// column sub_claims: list - the sub-claims that were used
// column decomposed: boolean - whether a model was asked for them
// column same_settings: boolean - whether it was made with these settings
// source: ours
MATCH (v:Verification {process_id: $process_id, method: 'veritrail'})
WHERE v.status = 'succeeded' AND v.content_hash = $content_hash
RETURN v.verification_id AS verification_id, v.claim_id AS claim_id, v.claim AS claim,
       v.node_id AS node_id, v.sub_claims AS sub_claims, EXISTS {
         MATCH (v)-[:TOOK]->(s:Step)
         WHERE s.step = 'sub_claim_decomposition'
       } AS decomposed, coalesce(v.settings IN $settings, false) AS same_settings
ORDER BY v.created_at, v.verification_id
