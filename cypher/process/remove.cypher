// purpose: Remove the process itself, after everything that belongs to it.
// param process_id: string - the process
// source: ours
MATCH (p:Process {process_id: $process_id})
DETACH DELETE p
