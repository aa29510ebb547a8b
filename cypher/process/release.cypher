// purpose: Release a process that is not completely loaded; the next ingest continues it.
// param process_id: string - the process
// param owner: string - who was writing it
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'loading' AND p.owner = $owner
REMOVE p.owner, p.beat
