// purpose: Script: link the last nodes of evidence trails to their verifications.
// param rows: list - [verification_id and node_id of the source, verification_id, properties]
// source: VeriTrail 3.2 (provenance)
UNWIND $rows AS row
MATCH (a:TrailNode)
WHERE a.verification_id = row[0] AND a.node_id = row[1]
MATCH (v:Verification {verification_id: row[2]})
CREATE (a)-[link:LEADS_TO]->(v)
SET link = row[3]
