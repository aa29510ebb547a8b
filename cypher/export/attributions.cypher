// purpose: A page of what sentences of a process are attributed to.
// param process_id: string - the process
// param skip: integer - how many were read before
// param limit: integer - at most this many
// column source: list - [node_id, index, start, end] of the sentence
// column target: list - the same of what it is attributed to
// column properties: map - properties of the relationship
// source: Error-tolerant attribution 3
MATCH (n:Sentence {process_id: $process_id})-[r:ATTRIBUTED_TO]->(m:Sentence)
RETURN [n.node_id, n.index, n.start, n.end] AS source,
       [m.node_id, m.index, m.start, m.end] AS target, properties(r) AS properties
ORDER BY n.node_id, n.index, n.start, n.end, m.node_id, m.index, m.start, m.end, r.engine, r.run
SKIP $skip LIMIT $limit
