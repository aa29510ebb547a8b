// purpose: Remove some sentences of a process that no evidence cites any more.
// param process_id: string - the process
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Sentence {process_id: $process_id})
WHERE NOT EXISTS { (x)<-[:CITES]-(:Evidence) }
WITH x LIMIT $limit
DETACH DELETE x
RETURN count(*) AS done
