// purpose: Take back some of what an earlier extraction left of the sentences of a node.
// param process_id: string - the process
// param node_id: string - the node
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Extraction {process_id: $process_id, node_id: $node_id})
WITH x LIMIT $limit
DETACH DELETE x
RETURN count(*) AS done
