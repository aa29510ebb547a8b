// purpose: What one run, or one judge, found of the claims of a process.
// param process_id: string - the process
// param run_id: string - the run; null: whatever the run
// param judge: string - the model, or the engine of verifications without a model; null: any
// param asked: boolean = false - whether questions count as claims
// column claim_id: string - the claim
// column claim: string - its text as it was verified
// column verification_id: string - the verification
// column status: string - its status
// column verdict: string - its verdict, or null
// column error_stages: list - where an error came in
// column run_id: string - its run, or null
// column engine: string - the engine of judgement
// column model: string - the model, or null
// column q: integer - after how many verdicts in a row a walk stopped
// column indicative: boolean - whether no model judged
// column created_at: string - when it was made
// column calls: integer - answers that models gave
// column cost_usd: float - US dollars, where known
// column unpriced_calls: integer - calls whose price is not known
// source: ours
MATCH (v:Verification {process_id: $process_id, method: 'veritrail'})
WHERE ($asked OR v.origin IS NULL) AND v.status <> 'queued'
  AND ($run_id IS NULL OR v.run_id = $run_id)
  AND ($judge IS NULL OR coalesce(v.model, v.engine) = $judge)
RETURN v.claim_id AS claim_id, v.claim AS claim, v.verification_id AS verification_id,
       v.status AS status, v.verdict AS verdict, coalesce(v.error_stages, []) AS error_stages,
       v.run_id AS run_id, v.engine AS engine, v.model AS model, v.q AS q, v.indicative AS indicative,
       v.created_at AS created_at, coalesce(v.calls, 0) AS calls, v.cost_usd AS cost_usd,
       coalesce(v.unpriced_calls, 0) AS unpriced_calls
ORDER BY created_at, verification_id
