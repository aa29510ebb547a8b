// purpose: A page of the names of the processes that are ready, in the order of their ids.
// param after: string - the last process_id of the page before; empty for the first
// param limit: integer - at most this many
// column process_id: string - the process
// column name: string - its display name
// column nodes: integer - its nodes
// column created_at: string - when it was stored
// source: ours
MATCH (p:Process)
WHERE p.process_id > $after AND p.status = 'ready'
RETURN p.process_id AS process_id, p.name AS name, p.nodes AS nodes, p.created_at AS created_at
ORDER BY p.process_id
LIMIT $limit
