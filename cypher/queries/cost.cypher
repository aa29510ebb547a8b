// purpose: Cost of a process: calls to models and tokens of its verifications, by step, model and prompt; those of turns of a dialogue by model alone.
// param process_id: string - the process
// param limit: integer = 100 in 1..10000 - at most this many
// column step: string - the step of the method; `dialogue`: all steps of turns of a dialogue
// column model: string - the model that was asked
// column prompt: string - name and version of the prompt; null for turns of a dialogue
// column verifications: integer - how many verifications, or turns, asked, whatever became of them
// column calls: integer - answers that the model gave
// column cached_calls: integer - answers that came from the cache of answers
// column input_tokens: integer - tokens of the prompts
// column cached_input_tokens: integer - those of them that the endpoint had in its own cache
// column output_tokens: integer - tokens of the answers
// column cost_usd: float - US dollars; null where the price of any call is not known
// column unpriced_calls: integer - calls whose price is not known
// group: Runs and cost
// example: process_id=harbour-summary
// source: VeriTrail D; of dialogues ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
CALL () {
  MATCH (v:Verification {process_id: $process_id})-[:TOOK]->(s:Step)
  RETURN s.step AS step, s.model AS model, s.prompt AS prompt, min(s.iteration) AS first,
         count(DISTINCT v) AS verifications, sum(s.calls) AS calls,
         sum(s.cached_calls) AS cached_calls, sum(s.input_tokens) AS input_tokens,
         sum(s.cached_input_tokens) AS cached_input_tokens, sum(s.output_tokens) AS output_tokens,
         sum(s.cost_usd) AS dollars, count(s.cost_usd) AS priced,
         sum(s.unpriced_calls) AS unpriced_calls
  UNION ALL
  MATCH (t:TurnVerification {process_id: $process_id})
  WHERE t.model IS NOT NULL
  RETURN 'dialogue' AS step, t.model AS model, null AS prompt, 0 AS first,
         count(t) AS verifications, sum(t.calls) AS calls,
         sum(t.cached_calls) AS cached_calls, sum(t.input_tokens) AS input_tokens,
         sum(t.cached_input_tokens) AS cached_input_tokens, sum(t.output_tokens) AS output_tokens,
         sum(t.cost_usd) AS dollars, count(t.cost_usd) AS priced,
         sum(t.unpriced_calls) AS unpriced_calls
}
WITH step, model, prompt, first, verifications, calls, cached_calls, input_tokens,
     cached_input_tokens, output_tokens, dollars, priced, unpriced_calls
RETURN step, model, prompt, verifications, calls, cached_calls, input_tokens, cached_input_tokens,
       output_tokens,
       CASE WHEN priced > 0 AND unpriced_calls = 0 THEN dollars END AS cost_usd, unpriced_calls
ORDER BY first, step, model, prompt
LIMIT $limit
