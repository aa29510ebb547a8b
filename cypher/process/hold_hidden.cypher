// purpose: Hold a process that is being removed, or replaced by this writer, until the end of the transaction; no row when it is not.
// param process_id: string - the process
// param status: string - deleting, which several writers may do together, or replacing
// param owner: string - who removes or replaces it
// column process_id: string - the process
// source: ours
MATCH (p:Process {process_id: $process_id})
// Locks the node, so that the status that is looked at next is the latest.
SET p.asked = $owner
REMOVE p.asked
WITH p
WHERE p.status = $status AND ($status = 'deleting' OR p.owner = $owner)
RETURN p.process_id AS process_id
