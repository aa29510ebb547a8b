// purpose: The process that was stored last, of those that are ready.
// column process_id: string - the process
// source: ours
MATCH (p:Process)
WHERE p.status = 'ready'
RETURN p.process_id AS process_id
ORDER BY p.created_at DESC, p.process_id DESC
LIMIT 1
