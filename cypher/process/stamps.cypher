// purpose: What tells whether the texts of processes that are ready are others than before.
// param after: string - the last process_id of the page before; empty for the first
// param limit: integer - at most this many
// column process_id: string - the process
// column content_hash: string - hash of its content
// column claims: integer - how many claims it has
// column characters: integer - the length of their texts together
// source: ours
MATCH (p:Process)
WHERE p.process_id > $after AND p.status = 'ready'
WITH p ORDER BY p.process_id LIMIT $limit
OPTIONAL MATCH (c:Claim {process_id: p.process_id})
RETURN p.process_id AS process_id, p.content_hash AS content_hash, count(c) AS claims,
       sum(size(coalesce(c.text, ''))) AS characters
ORDER BY process_id
