// purpose: Remove the node of a process that is being deleted, after everything that belongs to it.
// param process_id: string - the process
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'deleting'
WITH p LIMIT $limit
DETACH DELETE p
RETURN count(*) AS done
