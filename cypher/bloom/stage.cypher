// purpose: Bloom, "Nodes of stage $stage in process $process": the nodes of one stage.
// param stage: integer - the stage
// param process: string - the process
// column s: any - a node of the stage
// source: VeriTrail 2 (stage)
MATCH (:Process {process_id: $process, status: 'ready'})
MATCH (s:Span {process_id: $process})
// Naming node_id lets Neo4j take the index of the key; it would read all spans otherwise.
WHERE s.node_id IS NOT NULL AND s.stage = $stage
RETURN s
ORDER BY s.position
LIMIT 1000
