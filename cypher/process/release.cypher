// purpose: Release a process that is not completely loaded or in place; another writer continues it.
// param process_id: string - the process
// param owner: string - who was writing it
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status IN ['loading', 'replacing'] AND p.owner = $owner
REMOVE p.owner, p.beat
