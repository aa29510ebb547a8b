// purpose: Write the evidence trail as links between spans.
// param process_id: string - the process
// param verification_id: string - the verification
// param rows: list - {source, target, iteration, via}
// source: VeriTrail 3.2 (provenance)
UNWIND $rows AS row
MATCH (u:Span)
WHERE u.process_id = $process_id AND u.node_id = row.source
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = row.target
CREATE (u)-[:EVIDENCE_FOR {
  verification_id: $verification_id, iteration: row.iteration, via: row.via
}]->(v)
