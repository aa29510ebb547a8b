// purpose: Nodes of a process that is ready, with how many neighbours they have, and the edges between them.
// param process_id: string - the process
// param node_ids: list - the nodes
// param known: map - the same nodes, by node_id
// column node_id: string - the node
// column stage: integer - its stage
// column upstream_count: integer - how many source nodes it has
// column downstream_count: integer - how many nodes it was an input to
// column sources: list - those of its source nodes that are among the nodes
// source: VeriTrail 2 (src)
UNWIND $node_ids AS node_id
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = node_id
MATCH (p:Process {process_id: v.process_id})
WHERE p.status = 'ready'
RETURN v.node_id AS node_id, v.stage AS stage,
       COUNT { (v)<-[:INPUT_TO]-() } AS upstream_count,
       COUNT { (v)-[:INPUT_TO]->() } AS downstream_count,
       COLLECT {
         MATCH (v)<-[:INPUT_TO]-(u:Span)
         WHERE $known[u.node_id] IS NOT NULL
         WITH u.node_id AS source, u.stage AS stage, u.position AS position
         ORDER BY stage, position
         RETURN source
       } AS sources
ORDER BY v.stage, v.position
