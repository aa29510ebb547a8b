// purpose: Take back what sentences of a node were attributed to by an engine.
// param process_id: string - the process
// param node_id: string - the node
// param indexes: list - numbers of the sentences
// param engine: string - the engine
// source: ours
MATCH (s:Span {process_id: $process_id, node_id: $node_id})<-[:SENTENCE_OF]-(n:Sentence)
WHERE n.index IN $indexes
WITH n  // without the node: every row would hold its whole text
MATCH (n)-[old:ATTRIBUTED_TO {engine: $engine}]->(:Sentence)
DELETE old
