// purpose: Leave of a process that is being replaced, after everything that belongs to it is removed, a node that keeps the id.
// param process_id: string - the process
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'replacing' AND p.content_hash IS NOT NULL
WITH p LIMIT $limit
SET p = {process_id: p.process_id, status: p.status, owner: p.owner, beat: p.beat}
RETURN count(*) AS done
