// purpose: What all verifications of a process came to.
// param process_id: string - the process
// column verifications: integer - how many there are of claims of the answer, whatever their status
// column questions: integer - how many there are of questions
// column calls: integer - answers that models gave
// column cached_calls: integer - answers that came from the cache of answers
// column input_tokens: integer - tokens of the prompts
// column cached_input_tokens: integer - those of them that the endpoint had in its own cache
// column output_tokens: integer - tokens of the answers
// column cost_usd: float - US dollars of the calls whose price is known; null where there are none
// column unpriced_calls: integer - calls whose price is not known
// column modelled: integer - verifications that a model judges, whatever their status
// column unmetered: integer - those of them that have a verdict and do not say what it took
// source: VeriTrail D
MATCH (v:Verification {process_id: $process_id, method: 'veritrail'})
WITH sum(CASE WHEN v.origin IS NULL THEN 1 ELSE 0 END) AS verifications,
     sum(CASE WHEN v.origin IS NULL THEN 0 ELSE 1 END) AS questions, sum(v.calls) AS calls, sum(v.cached_calls) AS cached_calls,
     sum(v.input_tokens) AS input_tokens, sum(v.cached_input_tokens) AS cached_input_tokens,
     sum(v.output_tokens) AS output_tokens, sum(v.cost_usd) AS dollars,
     count(v.cost_usd) AS priced, sum(v.unpriced_calls) AS unpriced_calls,
     sum(CASE WHEN v.indicative = false THEN 1 ELSE 0 END) AS modelled,
     sum(CASE WHEN v.indicative = false AND v.status = 'succeeded' AND v.cost_usd IS NULL
              AND coalesce(v.calls, 0) + coalesce(v.cached_calls, 0) = 0
              THEN 1 ELSE 0 END) AS unmetered
RETURN verifications, questions, calls, cached_calls, input_tokens, cached_input_tokens, output_tokens,
       CASE WHEN priced > 0 THEN dollars END AS cost_usd, unpriced_calls,
       modelled, unmetered
