// purpose: Script: say which sentences the nodes of evidence trails cite.
// param process_id: string - the process
// param rows: list - [verification_id, node_id, node_id, index, start and end of the sentence]
// source: VeriTrail 3.2 (provenance)
UNWIND $rows AS row
MATCH (t:TrailNode {verification_id: row[0], node_id: row[1]})
MATCH (n:Sentence {
  process_id: $process_id, node_id: row[2], index: row[3], start: row[4], end: row[5]
})
CREATE (t)-[:CITES]->(n)
