// purpose: Script: link verifications of claims to what they were compared with.
// param process_id: string - the process
// param rows: list - [verification_id, claim_id, properties]
// source: VISTA 3, step 2
UNWIND $rows AS row
MATCH (v:Verification {verification_id: row[0]})
MATCH (c:Claim {process_id: $process_id, claim_id: row[1]})
CREATE (v)-[r:COMPARED_WITH]->(c)
SET r = row[2]
