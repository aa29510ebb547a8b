// purpose: Make claims of the answer of questions that were asked; their verifications stay.
// param process_id: string - the process
// param claim_ids: list - the questions
// source: ours
UNWIND $claim_ids AS claim_id
MATCH (c:Claim {process_id: $process_id, claim_id: claim_id})
SET c.origin = null, c.said = null
WITH c
MATCH (c)<-[:VERIFIES]-(v:Verification)
SET v.origin = null, v.said = null
