// purpose: Leave a sign of life while a process is being written; no row when another writer has it.
// param process_id: string - the process
// param owner: string - who is writing it
// param beat: string - now, ISO 8601 in UTC
// column process_id: string - the process, held until the end of the transaction
// source: ours
MATCH (p:Process {process_id: $process_id})
// Locks the node, so that the owner that is looked at next is the latest.
SET p.asked = $beat
REMOVE p.asked
WITH p
WHERE p.owner = $owner
SET p.beat = $beat
RETURN p.process_id AS process_id
