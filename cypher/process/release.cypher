// purpose: Release a process that is not completely loaded, in place or removed; another writer goes on.
// param process_id: string - the process
// param owner: string - who was writing it
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status IN ['loading', 'replacing', 'deleting'] AND p.owner = $owner
REMOVE p.owner, p.beat
