// purpose: Runs of a process, with the number of their verifications by status and verdict, and what they cost.
// param process_id: string - the process
// column run_id: string - the run
// column status: string - a status
// column verdict: string - a verdict, or null
// column verifications: integer - how many of its verifications have both
// column created_at: string - when the first of them was made
// column engine: string - the engine of judgement
// column model: string - the model, or null
// column q: integer - after how many verdicts in a row a walk stopped
// column indicative: boolean - whether no model judged
// column calls: integer - answers that models gave
// column cost_usd: float - US dollars of the calls whose price is known; null where there are none
// column unpriced_calls: integer - calls whose price is not known
// column settings: string - what decides the outcomes, as JSON, or null
// column kept: integer - verdicts that were kept from an earlier version
// source: ours
MATCH (v:Verification {process_id: $process_id, method: 'veritrail'})
WHERE v.run_id IS NOT NULL
WITH v.run_id AS run_id, v.status AS status, v.verdict AS verdict, count(v) AS verifications,
     min(v.created_at) AS created_at, min(v.engine) AS engine, min(v.model) AS model,
     min(v.q) AS q, min(CASE WHEN v.indicative THEN 1 ELSE 0 END) AS by_words,
     sum(v.calls) AS calls, sum(v.cost_usd) AS dollars, count(v.cost_usd) AS priced,
     sum(v.unpriced_calls) AS unpriced_calls, min(v.settings) AS settings, count(v.reused_from) AS kept
RETURN run_id, status, verdict, verifications, created_at, engine, model, q,
       by_words = 1 AS indicative, calls,
       CASE WHEN priced > 0 THEN dollars END AS cost_usd, unpriced_calls, settings, kept
ORDER BY run_id, status, verdict
