// purpose: The verifications of claims that ended; those that were only queued are left out.
// param process_id: string - the process
// param claim_ids: list - the claims
// column claim_id: string - the claim
// column verification_id: string - the verification
// source: ours
UNWIND $claim_ids AS claim_id
MATCH (c:Claim {process_id: $process_id, claim_id: claim_id})<-[:VERIFIES]-(v:Verification)
WHERE v.status <> 'queued'
RETURN claim_id, v.verification_id AS verification_id
