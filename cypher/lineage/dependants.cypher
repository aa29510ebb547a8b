// purpose: Nodes that some nodes were an input to, each once, but for those that are known; the first ones.
// param process_id: string - the process
// param node_ids: list - the nodes
// param known: map - by node_id: nodes that are left out
// param edges: integer - the most edges that are followed; an answer with as many is incomplete
// param limit: integer - at most this many nodes
// column nodes: list - their node_ids, by stage and place in the input
// column followed: integer - how many edges were followed
// source: VeriTrail 2 (src), read downstream
UNWIND $node_ids AS node_id
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = node_id
MATCH (v)-[:INPUT_TO]->(u:Span)
WITH u LIMIT $edges
WITH u, count(*) AS edges
WITH collect(u) AS found, sum(edges) AS followed
RETURN COLLECT {
         UNWIND found AS u
         WITH u.node_id AS node_id, u.stage AS stage, u.position AS position
         WHERE $known[node_id] IS NULL
         WITH node_id ORDER BY stage, position LIMIT $limit
         RETURN node_id
       } AS nodes, followed
