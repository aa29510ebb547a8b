// purpose: A node from which claims were extracted, if its process is still what it was.
// param process_id: string - the process; it must be ready
// param content_hash: string - the content that the claims were extracted from
// param node_id: string - the node
// column node_id: string - the node
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready' AND p.content_hash = $content_hash
MATCH (s:Span {process_id: $process_id, node_id: $node_id})
RETURN s.node_id AS node_id
