// purpose: The last place in the input of a source node of one node.
// param process_id: string - the process
// param node_id: string - the node
// column position: integer - the place, null without source nodes
// source: VeriTrail 2 (src)
MATCH (v:Span {process_id: $process_id, node_id: $node_id})
MATCH (v)<-[:INPUT_TO]-(u:Span)
RETURN max(u.position) AS position
