// purpose: One node of a process that is ready.
// param process_id: string - the process
// param node_id: string - the node
// column stage: integer - its stage
// column position: integer - its place in the input
// column role: string - root, intermediate, terminal or unsourced
// column text: string - its text
// column question: string - the question that it answers, or null
// source: VeriTrail 2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (s:Span {process_id: $process_id, node_id: $node_id})
RETURN s.stage AS stage, s.position AS position, s.role AS role, s.text AS text,
       s.question AS question
