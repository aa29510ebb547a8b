// purpose: Bloom, suggestions for $node: terminal nodes, and nodes with sentences that evidence cites.
// column node: string - what to put in for $node
// source: ours
MATCH (p:Process {status: 'ready'})
WITH p, COLLECT {
       MATCH (n:Sentence)
       WHERE n.process_id = p.process_id
       RETURN DISTINCT n.node_id AS cited ORDER BY cited LIMIT 1000
     } AS cited
UNWIND p.terminals + cited AS node_id
RETURN DISTINCT p.process_id + '/' + node_id AS node
ORDER BY node
LIMIT 1000
