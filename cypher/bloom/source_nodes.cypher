// purpose: Bloom, "Source nodes of $node": the direct inputs to the step that produced it.
// param node: string - PROCESS/NODE, or a node_id alone
// column n: any - the node
// column input: any - that the source node was an input to it
// column u: any - a source node
// source: VeriTrail 2 (src)
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
OPTIONAL MATCH (n)<-[input:INPUT_TO]-(u:Span)
RETURN n, input, u
ORDER BY n.process_id, u.stage, u.position
LIMIT 1000
