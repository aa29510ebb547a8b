// purpose: The documents that turns of a dialogue were written from.
// param process_id: string - the dialogue
// param node_ids: list - the turns
// column turn: string - node_id of the turn
// column node_id: string - node_id of the document
// column stage: integer - stage of the document
// column position: integer - its place in the input
// column role: string - its role
// source: VISTA 3, step 2 (the reference text of a turn)
UNWIND $node_ids AS node_id
MATCH (t:Span)
WHERE t.process_id = $process_id AND t.node_id = node_id
MATCH (d:Span)-[:INPUT_TO]->(t)
WHERE d.kind = 'document'
RETURN t.node_id AS turn, d.node_id AS node_id, d.stage AS stage, d.position AS position,
       d.role AS role
ORDER BY turn, position
