// purpose: Join spans to the nodes of another application whose texts they are copies of; those nodes are not changed.
// param process_id: string - the process
// param rows: list - [node_id of the span, the engine's id of the other node]
// column linked: integer - how many are joined
// source: ours
UNWIND $rows AS row
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = row[0]
MATCH (theirs)
WHERE elementId(theirs) = row[1] AND s.text IN [theirs.text, theirs.description, theirs.summary]
MERGE (s)-[:COPIED_FROM]->(theirs)
RETURN count(*) AS linked
