// purpose: Whether a process that is ready has a node; its text is not read.
// param process_id: string - the process
// param node_id: string - the node
// column stage: integer - its stage; no row when it is not there
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (s:Span {process_id: $process_id, node_id: $node_id})
RETURN s.stage AS stage
