// purpose: Script: say which sentences the nodes of evidence trails cite.
// param process_id: string - the process
// param rows: list - [verification_id, node_id, node_id, index, start and end of the sentence, what it says]
// source: VeriTrail 3.2 (provenance)
UNWIND $rows AS row
MATCH (t:TrailNode)
WHERE t.verification_id = row[0] AND t.node_id = row[1]
MATCH (n:Sentence)
WHERE n.process_id = $process_id AND n.node_id = row[2] AND n.index = row[3]
  AND n.start = row[4] AND n.end = row[5]
CREATE (t)-[:CITES {says: row[6]}]->(n)
