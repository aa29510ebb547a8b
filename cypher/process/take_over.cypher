// purpose: Go on with the process of a dead writer; of several who try, one does.
// param process_id: string - the process
// param former: string - the dead writer
// param owner: string - who is writing it from now on
// param beat: string - now, ISO 8601 in UTC
// column process_id: string - the process
// source: ours
MATCH (p:Process {process_id: $process_id})
SET p.beat = $beat
WITH p
WHERE p.status = 'loading' AND p.owner IN [$former, $owner]
SET p.owner = $owner
RETURN p.process_id AS process_id
