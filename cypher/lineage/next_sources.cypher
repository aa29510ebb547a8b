// purpose: The first source nodes of each of some nodes, but for those that are known.
// param process_id: string - the process
// param node_ids: list - the nodes
// param known: map - by node_id: nodes that are left out
// param edges: integer - the most edges of a node that are followed
// param limit: integer - at most this many of each
// column node_id: string - the node
// column nodes: list - node_ids of its source nodes, by stage and place in the input
// source: VeriTrail 2 (src)
UNWIND $node_ids AS node_id
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = node_id
RETURN v.node_id AS node_id, COLLECT {
         MATCH (v)<-[:INPUT_TO]-(u:Span)
         WITH u LIMIT $edges
         WHERE $known[u.node_id] IS NULL
         WITH u.node_id AS name, u.stage AS stage, u.position AS position
         ORDER BY stage, position LIMIT $limit
         RETURN name
       } AS nodes
