// purpose: Script: write which verification of a claim counts.
// param process_id: string - the process
// param rows: list - [claim_id, verification_id]
// source: ours
UNWIND $rows AS row
MATCH (c:Claim {process_id: $process_id, claim_id: row[0]})
MATCH (v:Verification {verification_id: row[1]})
CREATE (c)-[:IN_FORCE]->(v)
