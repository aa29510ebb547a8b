// purpose: A process that is ready, with everything that is stored of it as a whole.
// param process_id: string - the process
// column properties: map - its properties
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
RETURN properties(p) AS properties
