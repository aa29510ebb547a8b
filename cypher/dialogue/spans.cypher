// purpose: A page of the turns and the initial knowledge of a dialogue.
// param process_id: string - the dialogue
// param kinds: list - the kinds of nodes
// param after: string - node_id of the last one before; empty at first
// param limit: integer - at most this many
// column node_id: string - the node
// column kind: string - its kind, which says who speaks
// column stage: integer - its stage: the number of the turn
// column position: integer - its place in the input
// column text: string - its text
// source: VISTA 3
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id > $after AND s.kind IN $kinds
RETURN s.node_id AS node_id, s.kind AS kind, s.stage AS stage, s.position AS position,
       s.text AS text
ORDER BY s.node_id
LIMIT $limit
