// purpose: Script: write which sentences evidence cites.
// param process_id: string - the process
// param rows: list - [evidence_id, node_id, index, start, end, role, position, says, part, sides]
// source: VeriTrail 3.2
UNWIND $rows AS row
MATCH (e:Evidence {evidence_id: row[0]})
MATCH (n:Sentence)
WHERE n.process_id = $process_id AND n.node_id = row[1] AND n.index = row[2]
  AND n.start = row[3] AND n.end = row[4]
CREATE (e)-[:CITES {
  role: row[5], position: row[6], says: row[7], part: row[8], sides: row[9]
}]->(n)
