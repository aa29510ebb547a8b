// purpose: Check for repeated edges of a process; reads every edge, or those of one stage.
// param process_id: string - the process
// param stage: integer = null in 0..2147483647 - only edges that begin in this stage
// param limit: integer = 100 in 1..10000 - at most this many
// column source: string - node_id of where the edge begins
// column target: string - node_id of where it ends
// column times: integer - how often the edge is stored
// group: Integrity: no rows on a sound graph
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (u:Span)
WHERE u.process_id = $process_id AND u.node_id >= '' AND ($stage IS NULL OR u.stage = $stage)
  AND COUNT { (u)-[:INPUT_TO]->() } > 1
  AND COUNT { (u)-[:INPUT_TO]->() } > COUNT { MATCH (u)-[:INPUT_TO]->(w) RETURN DISTINCT w }
// Collected first: counting by edge comes after the wrong nodes are picked, and not before.
WITH collect(u) AS nodes
UNWIND nodes AS u
MATCH (u)-[:INPUT_TO]->(w:Span)
WITH u, w, count(*) AS times
WHERE times > 1
RETURN u.node_id AS source, w.node_id AS target, times
ORDER BY u.stage, u.position, w.stage, w.position
LIMIT $limit
