// purpose: Let what replaces a process that is ready keep when the first version was stored.
// param process_id: string - the process that is replaced
// param staged_id: string - the process that replaces it
// source: ours
MATCH (old:Process {process_id: $process_id})
WHERE old.status = 'ready'
MATCH (new:Process {process_id: $staged_id})
SET new.first_stored_at = coalesce(old.first_stored_at, old.created_at)
