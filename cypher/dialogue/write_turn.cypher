// purpose: Write what was found of a turn in a run, without its claims.
// param process_id: string - the dialogue; it must be ready
// param content_hash: string - the content that was verified
// param node_id: string - the turn
// param run_id: string - the run
// param properties: map - its properties
// column is_known: boolean - whether the run wrote it before; no row where the dialogue is another one
// source: VISTA 3
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready' AND p.content_hash = $content_hash
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = $node_id
MERGE (t:TurnVerification {process_id: $process_id, node_id: $node_id, run_id: $run_id})
WITH s, t, t.status IS NOT NULL AS is_known
SET t = $properties
MERGE (t)-[:OF_TURN]->(s)
RETURN is_known
