// purpose: Iterations of verifications as they are stored, with the nodes that they checked.
// param verification_ids: list - the verifications
// column properties: map - properties of the iteration
// column checked: list - node_ids
// source: VeriTrail 3.1.4
UNWIND $verification_ids AS verification_id
MATCH (v:Verification {verification_id: verification_id})-[:HAS_ITERATION]->(i:Iteration)
OPTIONAL MATCH (i)-[:CHECKED]->(s:Span)
WITH i, collect(s.node_id) AS checked
RETURN properties(i) AS properties, checked
ORDER BY i.verification_id, i.number
