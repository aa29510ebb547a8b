// purpose: A page of the claims of a process that contradict each other.
// param process_id: string - the process
// param skip: integer - how many were read before
// param limit: integer - at most this many
// column source: string - claim_id of the later claim
// column target: string - claim_id of the earlier one
// column properties: map - properties of the relationship
// source: VISTA 3, step 3
MATCH (c:Claim {process_id: $process_id})-[r:CONTRADICTS]->(b:Claim)
RETURN c.claim_id AS source, b.claim_id AS target, properties(r) AS properties
ORDER BY source, target, properties.run_id
SKIP $skip LIMIT $limit
