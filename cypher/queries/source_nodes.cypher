// purpose: Source nodes of a node: the direct inputs to the step that produced it.
// param process_id: string - the process
// param node_id: string - the node
// param limit: integer = 100 in 1..10000 - at most this many
// column node_id: string - a source node
// column stage: integer - its stage
// column role: string - root, intermediate, terminal or unsourced
// column kind: string - what it is
// column cited: boolean - whether the node cites it; null where the input does not say
// column text: string - the first 200 characters of its text
// group: The process as a graph
// example: process_id=harbour-summary node_id=final
// source: VeriTrail 2 (src)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (v:Span {process_id: $process_id, node_id: $node_id})<-[input:INPUT_TO]-(u:Span)
RETURN u.node_id AS node_id, u.stage AS stage, u.role AS role, u.kind AS kind,
       input.cited AS cited, left(u.text, 200) AS text
ORDER BY u.stage, u.position
LIMIT $limit
