// purpose: Cost of a process: calls to models and tokens of its verifications, by step, model and prompt.
// param process_id: string - the process
// param limit: integer = 100 in 1..10000 - at most this many
// column step: string - the step of the method
// column model: string - the model that was asked
// column prompt: string - name and version of the prompt
// column verifications: integer - how many verifications asked, whatever became of them
// column calls: integer - answers that the model gave
// column cached_calls: integer - answers that came from the cache of answers
// column input_tokens: integer - tokens of the prompts
// column cached_input_tokens: integer - those of them that the endpoint had in its own cache
// column output_tokens: integer - tokens of the answers
// column cost_usd: float - US dollars; null where the price of any call is not known
// column unpriced_calls: integer - calls whose price is not known
// group: Runs and cost
// example: process_id=harbour-summary
// source: VeriTrail D
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (v:Verification {process_id: $process_id})-[:TOOK]->(s:Step)
WITH s.step AS step, s.model AS model, s.prompt AS prompt, min(s.iteration) AS first,
     count(DISTINCT v) AS verifications, sum(s.calls) AS calls,
     sum(s.cached_calls) AS cached_calls, sum(s.input_tokens) AS input_tokens,
     sum(s.cached_input_tokens) AS cached_input_tokens, sum(s.output_tokens) AS output_tokens,
     sum(s.cost_usd) AS dollars, count(s.cost_usd) AS priced,
     sum(s.unpriced_calls) AS unpriced_calls
RETURN step, model, prompt, verifications, calls, cached_calls, input_tokens, cached_input_tokens,
       output_tokens,
       CASE WHEN priced > 0 AND unpriced_calls = 0 THEN dollars END AS cost_usd, unpriced_calls
ORDER BY first, step, model, prompt
LIMIT $limit
