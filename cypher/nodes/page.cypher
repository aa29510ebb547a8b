// purpose: A page of the nodes of a process that is ready, by stage and place in the input.
// param process_id: string - the process
// param after_stage: integer - stage of the last node of the page before; -1 at first
// param after_position: integer - its place in the input; -1 at first
// param stage: integer - only nodes of this stage; null: of any
// param role: string - only root, intermediate, terminal or unsourced nodes; null: any
// param text: string - only nodes whose text holds this, in capitals or not; null: any
// param limit: integer - at most this many
// column node_id: string - the node
// column stage: integer - its stage
// column position: integer - its place in the input
// column role: string - root, intermediate, terminal or unsourced
// column kind: string - what it is, or null
// column step: string - the step that produced it, or null
// column model: string - the model that produced it, or null
// column origin: string - source, generated or given
// column question: string - the question that it answers, or null
// column length: integer - UTF-16 units of its text, prompt and metadata
// source: VeriTrail 2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id >= ''
  AND (v.stage > $after_stage OR v.stage = $after_stage AND v.position > $after_position)
  AND ($stage IS NULL OR v.stage = $stage)
  AND ($role IS NULL OR v.role = $role)
  AND ($text IS NULL OR toLower(v.text) CONTAINS toLower($text))
WITH v ORDER BY v.stage, v.position LIMIT $limit
RETURN v.node_id AS node_id, v.stage AS stage, v.position AS position, v.role AS role,
       v.kind AS kind, v.step AS step, v.model AS model,
       v.origin AS origin, v.question AS question,
       size(v.text) + size(coalesce(v.prompt, '')) + size(coalesce(v.metadata, '')) AS length
ORDER BY stage, position
