// purpose: Bloom, "Verifications of process $process without a verdict": queued, running, undecided, failed, over budget, cancelled.
// param process: string - the process
// column c: any - a claim
// column v: any - a verification of it that has no verdict
// column verifies: any - that it verifies the claim
// source: ours
MATCH (:Process {process_id: $process, status: 'ready'})
MATCH (v:Verification {process_id: $process, method: 'veritrail'})-[verifies:VERIFIES]->(c:Claim)
WHERE c.origin IS NULL AND v.status <> 'succeeded'
RETURN c, v, verifies
ORDER BY v.created_at DESC, v.verification_id
LIMIT 1000
