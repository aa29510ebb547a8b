// purpose: Delete some edges of a span.
// param process_id: string - the process
// param node_id: string - the span
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = $node_id
MATCH (v)-[r:INPUT_TO]-()
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS done
