// purpose: Script: write the evidence trail as links between nodes.
// param process_id: string - the process
// param rows: list - [source, target, properties]
// source: VeriTrail 3.2 (provenance)
UNWIND $rows AS row
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = row[1]
MATCH (u:Span)
WHERE u.process_id = $process_id AND u.node_id = row[0]
CREATE (u)-[e:EVIDENCE_FOR]->(v)
SET e = row[2]
