// purpose: Take back what sentences of some nodes were attributed to by an engine.
// param process_id: string - the process
// param places: list - [node_id, numbers of its sentences] of each node
// param engine: string - the engine
// column done: integer - how many there were
// source: ours
UNWIND $places AS place
MATCH (s:Span)<-[:SENTENCE_OF]-(n:Sentence)
WHERE s.process_id = $process_id AND s.node_id = place[0] AND n.index IN place[1]
WITH n  // without the node: every row would hold its whole text
MATCH (n)-[old:ATTRIBUTED_TO {engine: $engine}]->(:Sentence)
DELETE old
RETURN count(*) AS done
