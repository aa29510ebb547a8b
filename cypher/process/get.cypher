// purpose: A process that is ready, with its number of claims.
// param process_id: string - the process
// column properties: map - its properties
// column claims: integer - number of claims
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
OPTIONAL MATCH (c:Claim {process_id: $process_id})
WHERE c.origin IS NULL
WITH p, count(c) AS claims
RETURN properties(p) AS properties, claims
