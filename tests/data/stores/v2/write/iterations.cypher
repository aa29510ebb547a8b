// purpose: Write the iterations of a verification.
// param verification_id: string - the verification
// param rows: list - properties of each iteration
// source: VeriTrail 3.1.4, C.1 Algorithm 1 line 16
MATCH (v:Verification {verification_id: $verification_id})
UNWIND $rows AS row
CREATE (v)-[:HAS_ITERATION]->(i:Iteration)
SET i = row
