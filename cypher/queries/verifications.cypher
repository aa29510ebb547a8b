// purpose: Verifications of a process, the latest first.
// param process_id: string - the process
// param claim_id: string = null - only those of this claim
// param status: string = null in queued|running|undecided|failed|over_budget|cancelled|succeeded - only those of this status
// param limit: integer = 100 in 1..10000 - at most this many
// column verification_id: string - the verification
// column claim_id: string - the claim
// column claim: string - its text, as it was verified
// column status: string - its status
// column verdict: string - its verdict; null unless it succeeded
// column review: string - what the latest review of it did to its verdict: confirmed, overridden or unclear; one that decides between reviewers comes first; null without one
// column engine: string - the engine of judgement
// column model: string - its model
// column q: integer - its limit of consecutive Not Fully Supported verdicts
// column created_at: string - when it was made
// column run_id: string - the run that it belongs to
// group: Claims and verdicts
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (v:Verification {process_id: $process_id, method: 'veritrail'})
WHERE ($claim_id IS NULL OR v.claim_id = $claim_id) AND ($status IS NULL OR v.status = $status)
WITH v ORDER BY v.created_at DESC, v.verification_id DESC LIMIT $limit
RETURN v.verification_id AS verification_id, v.claim_id AS claim_id, v.claim AS claim,
       v.status AS status, v.verdict AS verdict,
       head(COLLECT {
         MATCH (v)<-[:CONSIDERS]-(r:Review)
         RETURN r.kind ORDER BY coalesce(r.adjudicates, false) DESC, r.created_at DESC, r.review_id DESC LIMIT 1
       }) AS review,
       v.engine AS engine, v.model AS model, v.q AS q, v.created_at AS created_at,
       v.run_id AS run_id
ORDER BY v.created_at DESC, v.verification_id DESC
