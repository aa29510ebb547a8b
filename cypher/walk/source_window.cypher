// purpose: src() of one node, as far as it lies in a window of the input; for huge fan-ins.
// param process_id: string - the process
// param node_id: string - the node whose source nodes are asked for
// param lowest: integer - only source nodes of this stage or a later one
// param first: integer - the first position of the window
// param end: integer - the position behind its last one
// column nodes: list - [node_id, stage, position, role]
// source: VeriTrail 2 (src), C.1 Algorithm 1 lines 6, 20, 23
MATCH (v:Span {process_id: $process_id, node_id: $node_id})
MATCH (v)<-[:INPUT_TO]-(u:Span)
WHERE u.position >= $first AND u.position < $end AND u.stage >= $lowest
WITH collect([u.node_id, u.stage, u.position, u.role]) AS found
UNWIND range(0, size(found) - 1, 1000) AS start
RETURN found[start..start + 1000] AS nodes
