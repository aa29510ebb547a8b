// purpose: Let go of a process that is not loaded to its end; the next ingest goes on with it.
// param process_id: string - the process
// param owner: string - who was writing it
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'loading' AND p.owner = $owner
REMOVE p.owner, p.beat
