// purpose: Give a process another status, which hides it unless it is ready.
// param process_id: string - the process
// param status: string - the status
// param owner: string - who is writing it
// param beat: string - now, ISO 8601 in UTC
// column process_id: string - the process
// source: ours
MATCH (p:Process {process_id: $process_id})
SET p.status = $status, p.owner = $owner, p.beat = $beat
RETURN p.process_id AS process_id
