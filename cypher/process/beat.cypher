// purpose: Leave a sign of life while a process is being written.
// param process_id: string - the process
// param beat: string - now, ISO 8601 in UTC
// source: ours
MATCH (p:Process {process_id: $process_id})
SET p.beat = $beat
