// purpose: Delete some of what was found of turns of a process.
// param process_id: string - the process
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:TurnVerification {process_id: $process_id})
WITH x LIMIT $limit
DETACH DELETE x
RETURN count(*) AS done
