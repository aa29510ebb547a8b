// purpose: Script: link the nodes of evidence trails.
// param rows: list - [verification_id and node_id of the source, the same of the target, properties]
// source: VeriTrail 3.2 (provenance)
UNWIND $rows AS row
MATCH (a:TrailNode)
WHERE a.verification_id = row[0] AND a.node_id = row[1]
MATCH (b:TrailNode)
WHERE b.verification_id = row[2] AND b.node_id = row[3]
CREATE (a)-[link:LEADS_TO]->(b)
SET link = row[4]
