// purpose: Claims of a process by their ids.
// param process_id: string - the process
// param claim_ids: list - the claims
// column properties: map - properties of the claim
// source: ours
UNWIND $claim_ids AS claim_id
MATCH (c:Claim {process_id: $process_id, claim_id: claim_id})
RETURN properties(c) AS properties
