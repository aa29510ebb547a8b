// purpose: Write spans that an iteration checked, beyond those of its first statement.
// param process_id: string - the process
// param rows: list - [verification_id, number of the iteration, [node_ids]]
// source: C.1 Algorithm 1 line 17
UNWIND $rows AS row
MATCH (i:Iteration {verification_id: row[0], number: row[1]})
UNWIND row[2] AS node_id
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = node_id
CREATE (i)-[:CHECKED]->(s)
