// purpose: How many edges lead from stage to stage, for the targets in a window of the input.
// param process_id: string - the process
// param first: integer - the first position of the window
// param end: integer - the position behind its last one
// column source: integer - stage of the source nodes
// column target: integer - stage of the nodes that they were inputs to
// column edges: integer - how many edges
// source: VeriTrail 2 (stages)
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id >= ''
  AND v.position >= $first AND v.position < $end
MATCH (v)<-[:INPUT_TO]-(u:Span)
RETURN u.stage AS source, v.stage AS target, count(*) AS edges
ORDER BY source, target
