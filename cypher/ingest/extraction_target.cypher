// purpose: A node from which claims were extracted, if its process is still what it was.
// param process_id: string - the process; it must be ready
// param content_hash: string - the content that the claims were extracted from
// param node_id: string - the node
// column is_again: boolean - whether an earlier extraction left sentences of the node
// column position: integer - the place of the next claim of the process; 0: it has none
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready' AND p.content_hash = $content_hash
MATCH (s:Span {process_id: $process_id, node_id: $node_id})
OPTIONAL MATCH (c:Claim {process_id: $process_id})
WITH s, coalesce(max(c.position) + 1, 0) AS position
RETURN EXISTS { (s)<-[:EXTRACTION_OF]-(:Extraction) } AS is_again, position
