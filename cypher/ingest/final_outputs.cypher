// purpose: Lead from a process to some of its final outputs, once to each; say how many there are.
// param process_id: string - the process
// param owner: string - who is writing it
// param rows: list - node_id of each
// column stored: integer - how many
// source: VeriTrail 2 (a terminal node is a final output)
MATCH (p:Process {process_id: $process_id, owner: $owner})
UNWIND $rows AS node_id
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = node_id
MERGE (p)-[:HAS_FINAL_OUTPUT]->(s)
RETURN count(*) AS stored
