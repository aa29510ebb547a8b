// purpose: Script: write claims with the nodes that state them.
// param process_id: string - the process
// param rows: list - properties of each claim
// source: VeriTrail 3.1
UNWIND $rows AS row
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = row.node_id
CREATE (c:Claim)
SET c = row
CREATE (c)-[:EXTRACTED_FROM]->(s)
