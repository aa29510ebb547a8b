// purpose: Cost of a process by stage: calls to models and tokens of its verifications while they read nodes of each stage.
// param process_id: string - the process
// param verifications: integer = 500 in 1..10000 - how many verifications are counted, latest first; the time grows with them
// param limit: integer = 100 in 1..10000 - at most this many
// column stages: list - the stages that were read in the same round; empty before the first round, and in a round that failed
// column rounds: integer - rounds that asked a model for anything
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
MATCH (v:Verification {process_id: $process_id, method: 'veritrail'})
WITH v ORDER BY v.created_at DESC, v.verification_id DESC LIMIT $verifications
MATCH (v)-[:TOOK]->(s:Step)
WITH v, s.iteration AS number, sum(s.calls) AS calls, sum(s.cached_calls) AS cached_calls,
     sum(s.input_tokens) AS input_tokens, sum(s.cached_input_tokens) AS cached_input_tokens,
     sum(s.output_tokens) AS output_tokens, sum(s.cost_usd) AS dollars,
     count(s.cost_usd) AS priced, sum(s.unpriced_calls) AS unpriced_calls
OPTIONAL MATCH (v)-[:HAS_ITERATION]->(i:Iteration)
WHERE i.number = number
// Rounds that read the same nodes read the same stages: they are looked up once.
WITH coalesce(i.frontier_hash, [v.verification_id, number]) AS frontier, head(collect(i)) AS i,
     count(*) AS rounds, sum(calls) AS calls, sum(cached_calls) AS cached_calls,
     sum(input_tokens) AS input_tokens, sum(cached_input_tokens) AS cached_input_tokens,
     sum(output_tokens) AS output_tokens, sum(dollars) AS dollars, sum(priced) AS priced,
     sum(unpriced_calls) AS unpriced_calls
WITH COLLECT {
       MATCH (i)-[:CHECKED]->(read:Span)
       RETURN DISTINCT read.stage AS stage ORDER BY stage
     } AS stages, rounds, calls, cached_calls, input_tokens, cached_input_tokens, output_tokens,
     dollars, priced, unpriced_calls
WITH stages, sum(rounds) AS rounds, sum(calls) AS calls, sum(cached_calls) AS cached_calls,
     sum(input_tokens) AS input_tokens, sum(cached_input_tokens) AS cached_input_tokens,
     sum(output_tokens) AS output_tokens, sum(dollars) AS dollars, sum(priced) AS priced,
     sum(unpriced_calls) AS unpriced_calls
RETURN stages, rounds, calls, cached_calls, input_tokens, cached_input_tokens, output_tokens,
       CASE WHEN priced > 0 AND unpriced_calls = 0 THEN dollars END AS cost_usd, unpriced_calls
ORDER BY coalesce(stages[0], -1), size(stages), coalesce(stages[-1], -1)
LIMIT $limit
