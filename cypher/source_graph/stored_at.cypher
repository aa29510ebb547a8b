// purpose: Say when a process was stored; two graphs that say the same are one.
// param process_id: string - the process
// column created_at: string - when it was stored; no row where it is not there
// source: ours
MATCH (p:Process {process_id: $process_id})
RETURN p.created_at AS created_at
