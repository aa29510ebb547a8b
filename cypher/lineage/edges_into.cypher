// purpose: Edges into some nodes, from nodes that are known.
// param node_ids: list - the nodes that they lead to
// param process_id: string - the process
// param known: map - by node_id: the nodes that they may come from
// column node_id: string - where they lead to
// column others: list - node_ids of where they come from
// source: VeriTrail 2 (src)
UNWIND $node_ids AS node_id
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = node_id
RETURN v.node_id AS node_id, COLLECT {
         MATCH (v)<-[:INPUT_TO]-(u:Span)
         WHERE $known[u.node_id] IS NOT NULL
         RETURN u.node_id
       } AS others
