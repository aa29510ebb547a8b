// purpose: Iterations of verifications, with the spans that they checked.
// param verification_ids: list - the verifications
// column properties: map - properties of the iteration
// column checked: list - [node_id, stage, position, role]
// source: VeriTrail 3.2 (all interim verdicts)
UNWIND $verification_ids AS verification_id
MATCH (v:Verification {verification_id: verification_id})-[:HAS_ITERATION]->(i:Iteration)
OPTIONAL MATCH (i)-[:CHECKED]->(s:Span)
WITH i, collect([s.node_id, s.stage, s.position, s.role]) AS checked
RETURN properties(i) AS properties, checked
ORDER BY i.verification_id, i.number
