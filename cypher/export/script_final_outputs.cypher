// purpose: Script: lead from the process to its final outputs.
// param process_id: string - the process
// param rows: list - [process_id, node_id] of each
// source: VeriTrail 2 (a terminal node is a final output)
MATCH (p:Process {process_id: $process_id})
UNWIND $rows AS row
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = row[1]
CREATE (p)-[:HAS_FINAL_OUTPUT]->(s)
