// purpose: Delete some links from verifications of a process to the claims that they were compared with.
// param process_id: string - the process
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (v:Verification {process_id: $process_id})-[x:COMPARED_WITH]->(:Claim)
WITH x LIMIT $limit
DELETE x
RETURN count(*) AS done
