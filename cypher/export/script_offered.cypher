// purpose: Script: write where a value offers the place of an error.
// param process_id: string - the process
// param rows: list - [verification_id, node_id, properties]
// source: ours
UNWIND $rows AS row
MATCH (v:Verification {verification_id: row[0]})
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = row[1]
CREATE (v)-[error:ERROR_OFFERED_AT]->(s)
SET error = row[2]
