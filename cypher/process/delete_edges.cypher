// purpose: Delete some edges of a process, so that no node is deleted with too many at once.
// param process_id: string - the process
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (v:Span {process_id: $process_id})<-[r:INPUT_TO]-()
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS done
