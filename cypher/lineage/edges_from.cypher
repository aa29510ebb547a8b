// purpose: Edges out of some nodes, to nodes that are known; for targets with very many source nodes.
// param node_ids: list - the nodes that they come from
// param process_id: string - the process
// param known: map - by node_id: the nodes that they may lead to
// column node_id: string - where they come from
// column others: list - node_ids of where they lead to
// source: VeriTrail 2 (src), read downstream
UNWIND $node_ids AS node_id
MATCH (u:Span)
WHERE u.process_id = $process_id AND u.node_id = node_id
RETURN u.node_id AS node_id, COLLECT {
         MATCH (u)-[:INPUT_TO]->(v:Span)
         WHERE $known[v.node_id] IS NOT NULL
         RETURN v.node_id
       } AS others
