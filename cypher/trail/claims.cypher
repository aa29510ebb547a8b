// purpose: A page of the claims of a process, in the order of the input.
// param process_id: string - the process
// param after: integer - position of the last one before; -1 at first
// param after_id: string - its claim_id; empty at first
// param asked: boolean - also questions, which are no claims of the answer
// param limit: integer - at most this many
// column properties: map - properties of the claim
// source: VeriTrail 3.1
MATCH (c:Claim {process_id: $process_id})
WHERE (c.position > $after OR (c.position = $after AND c.claim_id > $after_id))
  AND ($asked OR c.origin IS NULL)
RETURN properties(c) AS properties
ORDER BY c.position, c.claim_id
LIMIT $limit
