// purpose: Steps of verifications as they are stored.
// param verification_ids: list - the verifications
// column properties: map - properties of the step
// source: VeriTrail 3.2, D
UNWIND $verification_ids AS verification_id
MATCH (v:Verification {verification_id: verification_id})-[:TOOK]->(s:Step)
RETURN properties(s) AS properties
ORDER BY s.verification_id, s.position
