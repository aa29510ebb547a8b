// purpose: From which places of tools some processes were fetched.
// param process_ids: list - the processes
// column process_id: string - the process; those that are not ready have no row
// column places: list - the places, without a key
// source: ours
UNWIND $process_ids AS name
MATCH (p:Process {process_id: name})
WHERE p.status = 'ready'
RETURN p.process_id AS process_id, coalesce(p.fetched_from, []) AS places
