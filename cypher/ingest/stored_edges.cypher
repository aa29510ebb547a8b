// purpose: Which batches of edges are stored: each was stored whole or not at all.
// param process_id: string - the process
// param rows: list - [batch, target of one of its edges, source of the same]
// column batch: integer - a batch that is stored
// source: ours
UNWIND $rows AS row
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = row[1]
MATCH (u:Span)
WHERE u.process_id = $process_id AND u.node_id = row[2]
MATCH (u)-[:INPUT_TO]->(v)
RETURN row[0] AS batch
