// purpose: The one step that produced all nodes of a stage, of each stage of a process where that is so.
// param process_id: string - the process
// column stage: integer - the stage
// column step: string - the step, such as the name of an agent or a tool
// source: ours
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id >= ''
WITH v.stage AS stage, collect(DISTINCT coalesce(v.step, '')) AS steps
WHERE size(steps) = 1 AND steps[0] <> ''
RETURN stage, steps[0] AS step
ORDER BY stage
