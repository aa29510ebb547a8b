// purpose: Claims of a process that have a verdict.
// param process_id: string - the process
// column claim_id: string - the claim
// source: ours
MATCH (c:Claim {process_id: $process_id})
WHERE EXISTS { (c)<-[:VERIFIES]-(:Verification {status: 'succeeded', method: 'veritrail'}) }
RETURN c.claim_id AS claim_id
ORDER BY c.position, c.claim_id
