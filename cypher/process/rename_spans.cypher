// purpose: Give some spans of a staged process its final id.
// param staged_id: string - the id while the process was loaded
// param process_id: string - the final id
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Span)
WHERE x.process_id = $staged_id AND x.node_id >= ''
WITH x LIMIT $limit
SET x.process_id = $process_id
RETURN count(x) AS done
