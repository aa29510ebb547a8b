// purpose: A page of what claim extraction left of the sentences of a process.
// param process_id: string - the process
// param after: string - node_id of the last sentence before; empty at first
// param after_position: integer - its place in the node; -1 at first
// param limit: integer - at most this many
// column properties: map - properties of the sentence
// source: VeriTrail 3.1
MATCH (x:Extraction {process_id: $process_id})
WHERE x.node_id > $after OR (x.node_id = $after AND x.position > $after_position)
RETURN properties(x) AS properties
ORDER BY x.node_id, x.position
LIMIT $limit
