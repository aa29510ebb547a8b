// purpose: A page of the nodes that a node was an input to, by stage and place in the input.
// param process_id: string - the process
// param node_id: string - the node
// param after_stage: integer - stage of the last node of the page before; -1 at first
// param after_position: integer - its place in the input; -1 at first
// param excerpt: integer - the most characters of a text
// param limit: integer - at most this many
// column node_id: string - such a node
// column stage: integer - its stage
// column position: integer - its place in the input
// column role: string - root, intermediate, terminal or unsourced
// column kind: string - what it is, or null
// column excerpt: string - how its text begins
// source: VeriTrail 2 (src), read downstream
MATCH (v:Span {process_id: $process_id, node_id: $node_id})
MATCH (v)-[:INPUT_TO]->(u:Span)
WHERE u.stage > $after_stage OR u.stage = $after_stage AND u.position > $after_position
WITH u ORDER BY u.stage, u.position LIMIT $limit
RETURN u.node_id AS node_id, u.stage AS stage, u.position AS position, u.role AS role,
       u.kind AS kind, left(u.text, $excerpt) AS excerpt
ORDER BY stage, position
