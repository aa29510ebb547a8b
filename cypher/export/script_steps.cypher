// purpose: Script: write what steps of verifications asked models for.
// param rows: list - properties of each step
// source: VeriTrail 3.2, D
UNWIND $rows AS row
MATCH (v:Verification {verification_id: row.verification_id})
CREATE (s:Step)
SET s = row
CREATE (v)-[:TOOK]->(s)
