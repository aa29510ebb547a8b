// purpose: Which batches of spans are stored: each was stored whole or not at all.
// param process_id: string - the process
// param rows: list - [batch, node_id of one of its spans]
// column batch: integer - a batch that is stored
// source: ours
UNWIND $rows AS row
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = row[1]
RETURN row[0] AS batch
