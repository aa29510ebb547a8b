// purpose: src() of a set of nodes, as far as it lies in a window of the input; for huge frontiers.
// param process_id: string - the process
// param node_ids: list - the nodes whose source nodes are asked for
// param first: integer - the first position of the window
// param end: integer - the position behind its last one
// column nodes: list - [node_id, stage, position, role, null, [targets among node_ids]]
// source: VeriTrail 2 (src), C.1 Algorithm 1 lines 6, 20, 23
UNWIND $node_ids AS node_id
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = node_id
MATCH (v)<-[:INPUT_TO]-(u:Span)
WHERE u.position >= $first AND u.position < $end
WITH u, collect(node_id) AS targets
WITH collect([u.node_id, u.stage, u.position, u.role, null, targets]) AS found
UNWIND range(0, size(found) - 1, 1000) AS start
RETURN found[start..start + 1000] AS nodes
