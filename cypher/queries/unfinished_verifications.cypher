// purpose: Verifications without a verdict: queued, running, undecided, failed, over budget or cancelled; the latest first.
// param process_id: string = null - only those of this process
// param status: string = null in queued|running|undecided|failed|over_budget|cancelled - only those of this status
// param limit: integer = 100 in 1..10000 - at most this many
// column process_id: string - the process
// column verification_id: string - the verification
// column claim_id: string - the claim
// column claim: string - its text, as it was verified
// column status: string - its status
// column failure: string - why there is no verdict
// column engine: string - the engine of judgement
// column model: string - its model
// column created_at: string - when it was made
// column run_id: string - the run that it belongs to
// group: Runs and cost
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process)
WHERE p.status = 'ready' AND ($process_id IS NULL OR p.process_id = $process_id)
WITH p  // else the embedded engine looks at every verification, even for one process
MATCH (v:Verification {process_id: p.process_id, method: 'veritrail'})
WHERE v.status <> 'succeeded' AND ($status IS NULL OR v.status = $status)
RETURN p.process_id AS process_id, v.verification_id AS verification_id, v.claim_id AS claim_id,
       v.claim AS claim, v.status AS status, v.error AS failure, v.engine AS engine,
       v.model AS model, v.created_at AS created_at, v.run_id AS run_id
ORDER BY v.created_at DESC, v.verification_id DESC
LIMIT $limit
