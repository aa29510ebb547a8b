// purpose: The metadata of nodes that say whether their step can change text.
// param process_id: string - the process
// param node_ids: list - the nodes
// column node_id: string - the node
// column metadata: string - its metadata, as JSON
// source: VeriTrail 2 (generative and non-generative steps)
UNWIND $node_ids AS node_id
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = node_id AND s.metadata CONTAINS '"generative"'
RETURN s.node_id AS node_id, s.metadata AS metadata
