// purpose: Script: write which nodes iterations checked.
// param process_id: string - the process
// param rows: list - [verification_id, number of the iteration, node_id]
// source: VeriTrail 3.1.4
UNWIND $rows AS row
MATCH (i:Iteration {verification_id: row[0], number: row[1]})
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = row[2]
CREATE (i)-[:CHECKED]->(s)
