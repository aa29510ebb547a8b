// purpose: Bloom, "Nodes made from $node": those that it was a direct input to.
// param node: string - PROCESS/NODE, or a node_id alone
// column n: any - the node
// column input: any - that the node was an input to the other
// column w: any - a node made from it
// source: VeriTrail 2 (src), read downstream
MATCH (p:Process {status: 'ready'})
WITH p.process_id AS process,
     CASE
       WHEN $node STARTS WITH p.process_id + '/'
         THEN [$node, substring($node, size(p.process_id) + 1)]
       ELSE [$node]  // a node_id may begin like that as well
     END AS names
UNWIND names AS node
MATCH (n:Span)
WHERE n.process_id = process AND n.node_id = node
OPTIONAL MATCH (n)-[input:INPUT_TO]->(w:Span)
RETURN n, input, w
ORDER BY n.process_id, w.stage, w.position
LIMIT 1000
