// purpose: A page of what was found of turns of a process, as it is stored.
// param process_id: string - the process
// param after: string - node_id of the last one before; empty at first
// param after_run: string - its run_id; empty at first
// param limit: integer - at most this many
// column properties: map - its properties
// source: VISTA 3
MATCH (t:TurnVerification {process_id: $process_id})
WHERE t.node_id > $after OR (t.node_id = $after AND t.run_id > $after_run)
RETURN properties(t) AS properties
ORDER BY t.node_id, t.run_id
LIMIT $limit
