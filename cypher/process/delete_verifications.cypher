// purpose: Delete some verifications of a process whose trails are deleted.
// param process_id: string - the process
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Verification {process_id: $process_id})
// A trail that was stored since trails were looked for could not be found without it.
WHERE NOT EXISTS { (x)-[:HAS_ITERATION|TOOK]->() } AND NOT EXISTS { (x)<-[:LEADS_TO]-() }
WITH x LIMIT $limit
DETACH DELETE x
RETURN count(*) AS done
