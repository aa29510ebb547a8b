// purpose: Script: write nodes of evidence trails.
// param process_id: string - the process
// param rows: list - properties of each
// source: VeriTrail 3.2 (provenance)
UNWIND $rows AS row
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = row.node_id
CREATE (t:TrailNode)
SET t = row
CREATE (t)-[:AT]->(s)
