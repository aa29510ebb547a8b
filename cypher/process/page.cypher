// purpose: A page of the processes that are ready, in the order of their ids.
// param after: string - the last process_id of the page before; empty for the first
// param limit: integer - at most this many
// column properties: map - properties of the process
// source: ours
MATCH (p:Process)
WHERE p.process_id > $after AND p.status = 'ready'
RETURN properties(p) AS properties
ORDER BY p.process_id
LIMIT $limit
