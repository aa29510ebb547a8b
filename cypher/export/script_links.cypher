// purpose: Script: link the nodes of evidence trails.
// param rows: list - [verification_id and node_id of the source, the same of the target, properties]
// source: VeriTrail 3.2 (provenance)
UNWIND $rows AS row
MATCH (a:TrailNode {verification_id: row[0], node_id: row[1]})
MATCH (b:TrailNode {verification_id: row[2], node_id: row[3]})
CREATE (a)-[link:LEADS_TO]->(b)
SET link = row[4]
