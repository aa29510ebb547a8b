// purpose: Say what a process is after something was appended to it; its other properties stay.
// param process_id: string - the process
// param properties: map - content hash, stages, terminals, counts and warnings
// source: ours
MATCH (p:Process {process_id: $process_id})
SET p += $properties
REMOVE p.owner
