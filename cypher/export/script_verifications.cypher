// purpose: Script: write verifications with the claims that they verify.
// param process_id: string - the process
// param rows: list - properties of each verification
// source: VeriTrail 3.2
UNWIND $rows AS row
MATCH (c:Claim {process_id: $process_id, claim_id: row.claim_id})
CREATE (v:Verification)
SET v = row
CREATE (v)-[:VERIFIES]->(c)
