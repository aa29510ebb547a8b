// purpose: Nodes of a process that is ready, by their ids.
// param process_id: string - the process
// param node_ids: list - the nodes
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
UNWIND $node_ids AS node_id
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = node_id
MATCH (p:Process {process_id: v.process_id})
WHERE p.status = 'ready'
RETURN v.node_id AS node_id, v.stage AS stage, v.position AS position, v.role AS role,
       v.kind AS kind, v.step AS step, v.model AS model,
       v.origin AS origin, v.question AS question,
       size(v.text) + size(coalesce(v.prompt, '')) + size(coalesce(v.metadata, '')) AS length
