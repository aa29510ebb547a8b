// purpose: How the frontiers of verifications were placed when they were verified.
// param verification_ids: list - the verifications
// column verification_id: string - the verification
// column number: integer - the iteration
// column frontier_hash: string - hash of its nodes in their order, or null where it is not known
// source: ours
UNWIND $verification_ids AS verification_id
MATCH (:Verification {verification_id: verification_id})-[:HAS_ITERATION]->(i:Iteration)
RETURN verification_id, i.number AS number, i.frontier_hash AS frontier_hash
ORDER BY verification_id, number
