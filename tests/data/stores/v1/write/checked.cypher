// purpose: Write which spans each iteration checked.
// param process_id: string - the process
// param verification_id: string - the verification
// param rows: list - [number of the iteration, [node_ids]]
// source: C.1 Algorithm 1 line 17
UNWIND $rows AS row
MATCH (i:Iteration {verification_id: $verification_id, number: row[0]})
UNWIND row[1] AS node_id
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = node_id
CREATE (i)-[:CHECKED]->(s)
