// purpose: Remove the verifications of claims that were queued and not made; they have no trail.
// param process_id: string - the process
// param claim_ids: list - the claims
// source: ours
UNWIND $claim_ids AS claim_id
MATCH (c:Claim {process_id: $process_id, claim_id: claim_id})<-[:VERIFIES]-(v:Verification)
WHERE v.status = 'queued'
DETACH DELETE v
