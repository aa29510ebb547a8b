// purpose: Write links of an evidence trail, beyond those of its first statement.
// param process_id: string - the process
// param rows: list - [verification_id, [source, target, iteration, via]]
// source: VeriTrail 3.2 (provenance)
UNWIND $rows AS row
WITH row[0] AS verification_id, row[1] AS path
MATCH (a:Span)
WHERE a.process_id = $process_id AND a.node_id = path[0]
MATCH (b:Span)
WHERE b.process_id = $process_id AND b.node_id = path[1]
CREATE (a)-[:EVIDENCE_FOR {
  verification_id: verification_id, iteration: path[2], via: path[3]
}]->(b)
