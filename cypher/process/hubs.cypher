// purpose: Spans of a process with very many edges, which are taken off before the span goes.
// param process_id: string - the process
// param degree: integer - more edges than this
// column node_id: string - the span
// source: ours
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id >= ''
  AND COUNT { (v)-[:INPUT_TO]-() } > $degree
RETURN v.node_id AS node_id
