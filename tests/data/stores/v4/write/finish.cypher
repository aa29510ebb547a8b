// purpose: Make a loaded process visible.
// param process_id: string - the process
// column process_id: string - the process
// source: ours
MATCH (p:Process {process_id: $process_id})
SET p.status = 'ready'
REMOVE p.owner, p.beat, p.plan
RETURN p.process_id AS process_id
