// purpose: Lead from processes to their final outputs, as ingest does from now on.
// param limit: integer - at most this many
// column done: integer - how many were reached
// source: VeriTrail 2 (a terminal node is a final output)
MATCH (p:Process)
WHERE p.process_id IS NOT NULL
UNWIND p.terminals AS node_id
MATCH (s:Span)
WHERE s.process_id = p.process_id AND s.node_id = node_id
  AND NOT EXISTS { (p)-[:HAS_FINAL_OUTPUT]->(s) }
WITH p, s LIMIT $limit
CREATE (p)-[:HAS_FINAL_OUTPUT]->(s)
RETURN count(*) AS done
