// purpose: Script: write where errors were introduced.
// param process_id: string - the process
// param rows: list - [verification_id, node_id, properties]
// source: VeriTrail 3.2 (error localization)
UNWIND $rows AS row
MATCH (v:Verification {verification_id: row[0]})
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = row[1]
CREATE (v)-[error:ERROR_INTRODUCED_AT]->(s)
SET error = row[2]
