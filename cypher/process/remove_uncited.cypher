// purpose: Remove some sentences of a process that no evidence cites and no attribution has any more.
// param process_id: string - the process
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Sentence {process_id: $process_id})
WHERE x.attributed_in IS NULL AND NOT EXISTS { (x)<-[:CITES]-(:Evidence) }
  AND NOT EXISTS { (x)<-[:ATTRIBUTED_TO]-(:Sentence) }
WITH x LIMIT $limit
DETACH DELETE x
RETURN count(*) AS done
