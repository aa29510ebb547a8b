// purpose: How many source texts verifications read, all iterations together, where none has evidence.
// param verification_ids: list - the verifications
// column verification_id: string - the verification; none without iterations
// column sources: integer - the source texts that it read, each once
// source: VeriTrail 3.1.4 (where a walk ends)
UNWIND $verification_ids AS verification_id
MATCH (v:Verification {verification_id: verification_id})-[:HAS_ITERATION]->(i:Iteration)
OPTIONAL MATCH (i)-[:CHECKED]->(s:Span {role: 'root'})
RETURN v.verification_id AS verification_id, count(DISTINCT s) AS sources
