// purpose: Delete some nodes of the evidence trails of a process.
// param process_id: string - the process
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (v:Verification {process_id: $process_id})
MATCH (x:TrailNode)
WHERE x.verification_id = v.verification_id AND x.node_id >= ''
WITH x LIMIT $limit
DETACH DELETE x
RETURN count(*) AS done
