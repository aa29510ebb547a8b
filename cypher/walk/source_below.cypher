// purpose: One source node, of any of these nodes, that lies before a stage.
// param process_id: string - the process
// param node_ids: list - the nodes
// param stage: integer - the stage
// column target: string - which of the nodes it was an input to
// column node_id: string - the source node
// column stage: integer - its stage
// column position: integer - its place in the input
// column role: string - root, intermediate, terminal or unsourced
// source: VeriTrail C.1 Algorithm 1 lines 25, 26, 29
UNWIND $node_ids AS node_id
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = node_id
MATCH (v)<-[:INPUT_TO]-(u:Span)
WHERE u.stage < $stage
RETURN v.node_id AS target, u.node_id AS node_id, u.stage AS stage, u.position AS position,
       u.role AS role
LIMIT 1
