// purpose: A page of the reviews of a process, oldest first.
// param process_id: string - the process
// param after: string - created_at of the last one before; empty at first
// param after_id: string - its review_id; empty at first
// param limit: integer - at most this many
// column properties: map - properties of the review
// source: ours
MATCH (r:Review {process_id: $process_id})
WHERE r.created_at > $after OR (r.created_at = $after AND r.review_id > $after_id)
RETURN properties(r) AS properties
ORDER BY r.created_at, r.review_id
LIMIT $limit
