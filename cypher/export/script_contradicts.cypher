// purpose: Script: write which claims contradict each other.
// param process_id: string - the process
// param rows: list - [claim_id, claim_id, properties]
// source: VISTA 3, step 3
UNWIND $rows AS row
MATCH (c:Claim {process_id: $process_id, claim_id: row[0]})
MATCH (b:Claim {process_id: $process_id, claim_id: row[1]})
CREATE (c)-[r:CONTRADICTS]->(b)
SET r = row[2]
