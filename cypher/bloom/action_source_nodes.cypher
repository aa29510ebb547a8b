// purpose: Bloom, action on selected nodes: their source nodes.
// param nodes: list - internal ids of what is selected
// column n: any - a selected node
// column input: any - that the source node was an input to it
// column u: any - a source node
// source: VeriTrail 2 (src)
MATCH (n:Span)<-[input:INPUT_TO]-(u:Span)
WHERE elementId(n) IN $nodes
RETURN n, input, u
ORDER BY n.position, u.stage, u.position
LIMIT 1000
