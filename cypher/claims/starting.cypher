// purpose: Claims of a process whose id begins with some letters, in the order of their ids.
// param process_id: string - the process
// param prefix: string - the letters
// param limit: integer - at most this many
// column claim_id: string - the claim
// source: ours
MATCH (c:Claim {process_id: $process_id})
WHERE c.claim_id STARTS WITH $prefix
RETURN c.claim_id AS claim_id
ORDER BY c.claim_id
LIMIT $limit
