// purpose: How many turns a dialogue has, and how many of them are the assistant's.
// param process_id: string - the dialogue
// param kinds: list - the kinds of turns
// param assistant: string - the kind of the assistant's
// column turns: integer - all turns
// column assistant_turns: integer - the assistant's
// column last_stage: integer - stage of the last turn; null: there is none
// source: VISTA 3
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.kind IN $kinds AND s.node_id STARTS WITH 'turn/'
RETURN count(s) AS turns, sum(CASE WHEN s.kind = $assistant THEN 1 ELSE 0 END) AS assistant_turns,
       max(s.stage) AS last_stage
