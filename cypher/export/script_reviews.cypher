// purpose: Script: write reviews with the claims that they are about.
// param process_id: string - the process
// param rows: list - properties of each review
// source: ours
UNWIND $rows AS row
MATCH (c:Claim {process_id: $process_id, claim_id: row.claim_id})
CREATE (r:Review)
SET r = row
CREATE (r)-[:REVIEWS]->(c)
