// purpose: A page of what was found of the turns of a dialogue, in one run or as it counts.
// param process_id: string - the dialogue
// param run_id: string - the run; null: what counts, of each turn
// param after: integer - stage of the last turn before; -1 at first
// param limit: integer - at most this many
// column stage: integer - the number of the turn
// column properties: map - its properties
// source: VISTA 3
MATCH (t:TurnVerification {process_id: $process_id})
WHERE t.run_id = $run_id OR ($run_id IS NULL AND t.in_force)
MATCH (t)-[:OF_TURN]->(s:Span)
WHERE s.stage > $after
RETURN s.stage AS stage, properties(t) AS properties
ORDER BY stage
LIMIT $limit
