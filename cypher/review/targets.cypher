// purpose: What reviews of several claims are to be about: each claim, and its verification in force.
// param process_id: string - the process; it must be ready
// param claim_ids: list - the claims
// column claim_id: string - a claim that is there
// column claim: string - its text
// column verification: list - [verification_id, process_id, claim_id, status, verdict], or null
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
UNWIND $claim_ids AS claim_id
MATCH (c:Claim {process_id: $process_id, claim_id: claim_id})
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification {status: 'succeeded'})
RETURN c.claim_id AS claim_id, c.text AS claim, CASE
         WHEN v IS NULL THEN null
         ELSE [v.verification_id, v.process_id, v.claim_id, v.status, v.verdict]
       END AS verification
