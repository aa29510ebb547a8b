// purpose: Note that what a tool has at a place is the content of a process.
// param process_id: string - the process
// param place: string - the place, without a key
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready' AND NOT $place IN coalesce(p.fetched_from, [])
SET p.fetched_from = coalesce(p.fetched_from, []) + $place
