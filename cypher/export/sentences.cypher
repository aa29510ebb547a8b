// purpose: A page of the sentences of a process that became evidence.
// param process_id: string - the process
// param after: string - node_id of the last one before; empty at first
// param after_index: integer - its number in the node; -1 at first
// param after_start: integer - its first offset; -1 at first
// param after_end: integer - its last offset; -1 at first
// param limit: integer - at most this many
// column properties: map - properties of the sentence
// source: VeriTrail 3.2 (selected sentences)
MATCH (n:Sentence {process_id: $process_id})
WHERE n.node_id > $after OR (n.node_id = $after AND (
  n.index > $after_index OR (n.index = $after_index AND (
    n.start > $after_start OR (n.start = $after_start AND n.end > $after_end)))))
RETURN properties(n) AS properties
ORDER BY n.node_id, n.index, n.start, n.end
LIMIT $limit
