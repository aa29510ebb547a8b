// purpose: The runs in which turns of a dialogue were verified, newest first.
// param process_id: string - the dialogue
// column run_id: string - the run
// column created_at: string - when it began
// column engine: string - the engine
// column model: string - the model; null: the engine has none
// column indicative: boolean - whether no model was asked
// column settings: string - what decides its outcome, as JSON text
// column turns: integer - how many turns it stored
// column counting: integer - of how many turns its results count
// source: ours
MATCH (t:TurnVerification {process_id: $process_id})
WITH t.run_id AS run_id, min(t.created_at) AS created_at, min(t.engine) AS engine,
     min(t.model) AS model, collect(t.indicative) AS indicative, min(t.settings) AS settings,
     count(t) AS turns, sum(CASE WHEN t.in_force THEN 1 ELSE 0 END) AS counting
RETURN run_id, created_at, engine, model, indicative[0] AS indicative, settings, turns, counting
ORDER BY created_at DESC, run_id DESC
