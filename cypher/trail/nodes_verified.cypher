// purpose: How many nodes verifications read, all iterations together.
// param verification_ids: list - the verifications
// column verification_id: string - the verification; none without iterations
// column nodes: integer - the nodes that it read
// source: VeriTrail D (percentage of nodes verified)
UNWIND $verification_ids AS verification_id
MATCH (v:Verification {verification_id: verification_id})-[:HAS_ITERATION]->(i:Iteration)
RETURN v.verification_id AS verification_id, sum(i.checked_count) AS nodes
