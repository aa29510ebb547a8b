// purpose: Write nodes of an evidence trail, beyond those of its first statement.
// param process_id: string - the process
// param rows: list - [verification_id, [node_id, iteration, caption]]
// source: VeriTrail 3.2 (provenance)
UNWIND $rows AS row
WITH row[0] AS verification_id, row[1] AS place
MATCH (v:Verification {verification_id: verification_id})
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = place[0]
CREATE (:TrailNode {
  verification_id: verification_id, node_id: place[0], process_id: $process_id,
  claim_id: v.claim_id, stage: s.stage, role: s.role, position: s.position,
  iteration: place[1], caption: place[2]
})-[:AT]->(s)
