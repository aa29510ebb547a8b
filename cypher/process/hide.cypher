// purpose: Hide a process to remove it, or go on removing one; none that is being written.
// param process_id: string - the process
// param owner: string - who removes it
// param beat: string - now, ISO 8601 in UTC
// column process_id: string - the process; no row when it is not there or is being written
// source: ours
MATCH (p:Process {process_id: $process_id})
// Locks the node, so that the status that is looked at next is the latest.
SET p.asked = $beat
REMOVE p.asked
WITH p
WHERE p.status IN ['ready', 'deleting']
SET p.status = 'deleting', p.owner = $owner, p.beat = $beat
RETURN p.process_id AS process_id
