// purpose: Delete some steps of the verifications of a process.
// param process_id: string - the process
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (v:Verification {process_id: $process_id})-[:TOOK]->(x:Step)
WITH x LIMIT $limit
DETACH DELETE x
RETURN count(*) AS done
