// purpose: Remove claims that have no verifications (any more).
// param process_id: string - the process
// param claim_ids: list - the claims
// column done: integer - how many there were
// source: ours
UNWIND $claim_ids AS claim_id
MATCH (c:Claim {process_id: $process_id, claim_id: claim_id})
WHERE NOT EXISTS { (c)<-[:VERIFIES]-(:Verification) }
DETACH DELETE c
RETURN count(*) AS done
