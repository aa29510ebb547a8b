// purpose: Script: write what claim extraction left of sentences.
// param process_id: string - the process
// param rows: list - properties of each sentence
// source: VeriTrail 3.1
UNWIND $rows AS row
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = row.node_id
CREATE (x:Extraction)
SET x = row
CREATE (x)-[:EXTRACTION_OF]->(s)
