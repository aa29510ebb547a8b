// purpose: Check for nodes of a process whose role does not match their edges; reads every node once.
// param process_id: string - the process
// param stage: integer = null in 0..2147483647 - only nodes of this stage
// param limit: integer = 100 in 1..10000 - at most this many
// column node_id: string - the node
// column stage: integer - its stage
// column role: string - the role it has
// column expected: string - the role it should have
// group: Integrity: no rows on a sound graph
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
WITH p.terminals AS terminals
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id >= '' AND ($stage IS NULL OR s.stage = $stage)
WITH s, CASE
       WHEN NOT EXISTS { (s)<-[:INPUT_TO]-() } AND s.origin = 'source' THEN 'root'
       WHEN NOT EXISTS { (s)<-[:INPUT_TO]-() } THEN 'unsourced'
       WHEN s.node_id IN terminals THEN 'terminal'
       ELSE 'intermediate'
     END AS expected
WHERE coalesce(s.role, '') <> expected
// Collected first: sorting comes after the wrong ones are picked, and not before.
WITH collect([s, expected]) AS wrong
UNWIND wrong AS pair
WITH pair[0] AS s, pair[1] AS expected
RETURN s.node_id AS node_id, s.stage AS stage, s.role AS role, expected
ORDER BY s.stage, s.position
LIMIT $limit
