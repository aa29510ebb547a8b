// purpose: Make a run the run of record of its process, or let no run be.
// param process_id: string - the process
// param run_id: string - the run, or null
// column process_id: string - the process; none that is not ready
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
SET p.run_of_record = $run_id
RETURN p.process_id AS process_id
