// purpose: src() of one node, as far as it lies in a window of the input; for huge fan-ins.
// param process_id: string - the process
// param node_id: string - the node whose source nodes are asked for
// param first: integer - the first position of the window
// param end: integer - the position behind its last one
// column node_ids: list - the source nodes
// column stages: list - their stages
// column positions: list - their places in the input
// column roles: list - root, intermediate, terminal or unsourced
// source: VeriTrail 2 (src), C.1 Algorithm 1 lines 6, 20, 23
MATCH (v:Span {process_id: $process_id, node_id: $node_id})
MATCH (v)<-[:INPUT_TO]-(u:Span)
WHERE u.position >= $first AND u.position < $end
WITH collect(u.node_id) AS node_ids, collect(u.stage) AS stages,
     collect(u.position) AS positions, collect(u.role) AS roles
UNWIND range(0, size(node_ids) - 1, 1000) AS start
WITH start, start + 1000 AS end, node_ids, stages, positions, roles
RETURN node_ids[start..end] AS node_ids, stages[start..end] AS stages,
       positions[start..end] AS positions, roles[start..end] AS roles
