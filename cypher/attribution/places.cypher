// purpose: Where the attributed sentences of some nodes are.
// param process_id: string - the process
// param node_ids: list - the nodes
// column node_id: string - the node
// column index: integer - the sentence's number in it, counted from 0
// column start: integer - offset of its first character
// column end: integer - the offset just behind it
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
UNWIND $node_ids AS name
MATCH (s:Span)<-[:SENTENCE_OF]-(n:Sentence)
WHERE s.process_id = $process_id AND s.node_id = name AND n.attributed_in IS NOT NULL
RETURN name AS node_id, n.index AS index, n.start AS start, n.end AS end
