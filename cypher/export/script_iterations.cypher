// purpose: Script: write the iterations of verifications.
// param rows: list - properties of each iteration
// source: VeriTrail 3.1.4
UNWIND $rows AS row
MATCH (v:Verification {verification_id: row.verification_id})
CREATE (i:Iteration)
SET i = row
CREATE (v)-[:HAS_ITERATION]->(i)
