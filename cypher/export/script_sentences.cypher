// purpose: Script: write sentences that became evidence.
// param process_id: string - the process
// param rows: list - properties of each sentence
// source: VeriTrail 3.2
UNWIND $rows AS row
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = row.node_id
CREATE (n:Sentence)
SET n = row
CREATE (n)-[:SENTENCE_OF]->(s)
