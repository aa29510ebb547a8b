// purpose: Processes that are ready and whose id begins with some letters, in the order of their ids.
// param prefix: string - the letters
// param limit: integer - at most this many
// column process_id: string - the process
// source: ours
MATCH (p:Process)
WHERE p.process_id STARTS WITH $prefix AND p.status = 'ready'
RETURN p.process_id AS process_id
ORDER BY p.process_id
LIMIT $limit
