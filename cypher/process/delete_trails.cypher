// purpose: Delete some iterations of the verifications of a process, with their evidence.
// param process_id: string - the process
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (v:Verification {process_id: $process_id})-[:HAS_ITERATION]->(i:Iteration)
WITH i LIMIT $limit
OPTIONAL MATCH (i)-[:FOUND]->(e:Evidence)
DETACH DELETE e
WITH DISTINCT i
DETACH DELETE i
RETURN count(*) AS done
