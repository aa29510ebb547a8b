// purpose: Bloom, action on selected nodes: the nodes made from them.
// param nodes: list - internal ids of what is selected
// column n: any - a selected node
// column input: any - that the node was an input to the other
// column w: any - a node made from it
// source: VeriTrail 2 (src), read downstream
MATCH (n:Span)-[input:INPUT_TO]->(w:Span)
WHERE elementId(n) IN $nodes
RETURN n, input, w
ORDER BY n.position, w.stage, w.position
LIMIT 1000
