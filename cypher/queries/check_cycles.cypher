// purpose: Check for cycles of a process within a stage (check_edges finds edges back to an earlier stage); reads every node once.
// param process_id: string - the process
// param edges: integer = 1000 in 1..100000 - follow at most this many edges that lead back in the order of the input; every cycle has one
// param limit: integer = 100 in 1..10000 - at most this many
// column source: string - node_id of where the edge that closes the cycle begins
// column target: string - node_id of where it ends
// column stage: integer - their stage
// column hops: integer - edges of the shortest such cycle, of at most 10,001
// group: Integrity: no rows on a sound graph
// example: process_id=harbour-summary
// source: VeriTrail 2 (the process is acyclic)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (u:Span)
WHERE u.process_id = $process_id AND u.node_id >= ''
WITH u, u.stage AS stage, u.position AS place
MATCH (u)-[:INPUT_TO]->(w:Span)
WHERE w.stage = stage AND w.position <= place AND w <> u
// Collected first: the paths come after the edges are picked, and not before.
WITH u, w LIMIT $edges
WITH collect([u, w]) AS pairs
UNWIND pairs AS pair
WITH pair[0] AS u, pair[1] AS w
MATCH way = shortestPath((w)-[:INPUT_TO*1..10000]->(u))
WITH u, w, length(way) + 1 AS hops
RETURN u.node_id AS source, w.node_id AS target, u.stage AS stage, hops
ORDER BY stage, u.position, w.position
LIMIT $limit
