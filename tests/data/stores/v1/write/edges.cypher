// purpose: Store a batch of edges, grouped by their target, and say how many were stored.
// param process_id: string - the process
// param rows: list - [target, [[source, cited], …]]
// column stored: integer - how many
// source: VeriTrail 2 (u was an input to the step that produced v)
UNWIND $rows AS row
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = row[0]
UNWIND row[1] AS input
MATCH (u:Span)
WHERE u.process_id = $process_id AND u.node_id = input[0]
CREATE (u)-[:INPUT_TO {cited: input[1]}]->(v)
RETURN count(*) AS stored
