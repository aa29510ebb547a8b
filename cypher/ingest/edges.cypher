// purpose: Store a batch of edges, grouped by their target, and say how many were stored.
// param process_id: string - the process
// param owner: string - who is writing it
// param rows: list - [target, [whether it cites them, how they were inferred, score], [source, …]]
// column stored: integer - how many
// source: VeriTrail 2 (u was an input to the step that produced v)
MATCH (p:Process {process_id: $process_id, owner: $owner})
UNWIND $rows AS row
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = row[0]
UNWIND row[2] AS source
MATCH (u:Span)
WHERE u.process_id = $process_id AND u.node_id = source
CREATE (u)-[:INPUT_TO {cited: row[1][0], inferred: row[1][1], score: row[1][2]}]->(v)
RETURN count(*) AS stored
