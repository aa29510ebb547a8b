// purpose: Write what the steps of a verification asked models for, and what that came to.
// param verification_id: string - the verification
// param rows: list - properties of each step
// source: VeriTrail 3.2, D
MATCH (v:Verification {verification_id: $verification_id})
UNWIND $rows AS row
CREATE (v)-[:TOOK]->(s:Step)
SET s = row
