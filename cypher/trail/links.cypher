// purpose: Write links of an evidence trail, beyond those of its first statement.
// param rows: list - [verification_id, node_id, node_id of what it leads to or null for the verification, via]
// source: VeriTrail 3.2 (provenance)
UNWIND $rows AS row
MATCH (a:TrailNode)
WHERE a.verification_id = row[0] AND a.node_id = row[1]
CALL (a, row) {
  WITH a, row
  WHERE row[2] IS NULL
  MATCH (v:Verification {verification_id: row[0]})
  CREATE (a)-[:LEADS_TO {via: row[3]}]->(v)
}
CALL (a, row) {
  WITH a, row
  WHERE row[2] IS NOT NULL
  MATCH (b:TrailNode)
  WHERE b.verification_id = row[0] AND b.node_id = row[2]
  CREATE (a)-[:LEADS_TO {via: row[3]}]->(b)
}
