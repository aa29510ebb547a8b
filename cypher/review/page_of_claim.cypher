// purpose: A page of the reviews of a claim, newest first.
// param process_id: string - the process
// param claim_id: string - the claim
// param before: string - created_at and review_id of the last one before; empty at first
// param limit: integer - at most this many
// column properties: map - properties of the review
// column engine: string - the engine whose verdict was reviewed, or null
// column model: string - its model, or null
// column sort_key: string - created_at and review_id
// source: ours
MATCH (c:Claim {process_id: $process_id, claim_id: $claim_id})<-[:REVIEWS]-(r:Review)
WITH r, r.created_at + ' ' + r.review_id AS sort_key
WHERE $before = '' OR sort_key < $before
WITH r, sort_key ORDER BY sort_key DESC LIMIT $limit
OPTIONAL MATCH (r)-[:CONSIDERS]->(v:Verification)
RETURN properties(r) AS properties, v.engine AS engine, v.model AS model, sort_key
ORDER BY sort_key DESC
