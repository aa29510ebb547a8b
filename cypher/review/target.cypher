// purpose: What a review is to be about: a claim, and the verification whose verdict is reviewed.
// param process_id: string - the process
// param claim_id: string - the claim
// param verification_id: string - the verification, or null: the claim's one in force
// column claim: string - the claim's text, or null where there is no such claim
// column verification: list - [verification_id, process_id, claim_id, status, verdict], or null
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
OPTIONAL MATCH (c:Claim {process_id: $process_id, claim_id: $claim_id})
RETURN c.text AS claim, CASE
         WHEN $verification_id IS NULL THEN head(COLLECT {
           MATCH (c)-[:IN_FORCE]->(v:Verification {status: 'succeeded'})
           RETURN [v.verification_id, v.process_id, v.claim_id, v.status, v.verdict]
         })
         ELSE head(COLLECT {
           MATCH (v:Verification {verification_id: $verification_id})
           RETURN [v.verification_id, v.process_id, v.claim_id, v.status, v.verdict]
         })
       END AS verification
