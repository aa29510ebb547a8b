// purpose: Delete some iterations, with their evidence, and steps of the verifications of a process.
// param process_id: string - the process
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (v:Verification {process_id: $process_id})-[:HAS_ITERATION|TOOK]->(x)
WITH x LIMIT $limit
OPTIONAL MATCH (x)-[:FOUND]->(e:Evidence)
DETACH DELETE e
WITH DISTINCT x
DETACH DELETE x
RETURN count(*) AS done
