// purpose: What the verification of turns of dialogues came to: in one run, as it counts, or in all runs.
// param process_ids: list - the dialogues
// param run_id: string - the run; null: of any run
// param counting: boolean - whether only results that count are added up
// column process_id: string - the dialogue; none without a verified turn
// column turns: integer - how many turns were verified, each run by itself
// column calls: integer - answers that models gave
// column cached_calls: integer - answers that came from the cache of answers
// column input_tokens: integer - tokens of the prompts
// column cached_input_tokens: integer - those of them that the endpoint had in its own cache
// column output_tokens: integer - tokens of the answers
// column reasoning_tokens: integer - those of the output that were reasoning
// column cost_usd: float - US dollars of the calls whose price is known; null where there are none
// column unpriced_calls: integer - calls whose price is not known
// column modelled: integer - turns that a model was asked about, whatever their status
// column unmetered: integer - those of them that succeeded and do not say what it took
// column changed_at: string - when the latest run began
// source: ours
UNWIND $process_ids AS process_id
MATCH (t:TurnVerification {process_id: process_id})
WHERE ($run_id IS NULL OR t.run_id = $run_id) AND (t.in_force OR NOT $counting)
WITH process_id, count(t) AS turns, sum(t.calls) AS calls, sum(t.cached_calls) AS cached_calls,
     sum(t.input_tokens) AS input_tokens, sum(t.cached_input_tokens) AS cached_input_tokens,
     sum(t.output_tokens) AS output_tokens, sum(t.reasoning_tokens) AS reasoning_tokens,
     sum(t.cost_usd) AS dollars, count(t.cost_usd) AS priced,
     sum(t.unpriced_calls) AS unpriced_calls,
     sum(CASE WHEN t.indicative = false THEN 1 ELSE 0 END) AS modelled,
     sum(CASE WHEN t.indicative = false AND t.status = 'succeeded' AND t.cost_usd IS NULL
              AND coalesce(t.calls, 0) + coalesce(t.cached_calls, 0) = 0
              THEN 1 ELSE 0 END) AS unmetered, max(t.created_at) AS changed_at
RETURN process_id, turns, calls, cached_calls, input_tokens, cached_input_tokens, output_tokens,
       reasoning_tokens, CASE WHEN priced > 0 THEN dollars END AS cost_usd, unpriced_calls,
       modelled, unmetered, changed_at
