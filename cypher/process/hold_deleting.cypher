// purpose: Hold a process that is being deleted until the end of the transaction; no row when it is not.
// param process_id: string - the process
// column process_id: string - the process
// source: ours
MATCH (p:Process {process_id: $process_id})
// Locks the node, so that the status that is looked at next is the latest.
SET p.asked = 'deleting'
REMOVE p.asked
WITH p
WHERE p.status = 'deleting'
RETURN p.process_id AS process_id
