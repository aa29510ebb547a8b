// purpose: Take back the iterations and the evidence of a verification that is written again.
// param verification_id: string - the verification
// source: ours
MATCH (v:Verification {verification_id: $verification_id})-[:HAS_ITERATION]->(i:Iteration)
OPTIONAL MATCH (i)-[:FOUND]->(e:Evidence)
WITH collect(DISTINCT i) + collect(e) AS every  // all are found before the first one is deleted
UNWIND every AS one
DETACH DELETE one
