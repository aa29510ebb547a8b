// purpose: Write the sentences that evidence cites, each once a span.
// param process_id: string - the process
// param rows: list - {evidence_id, node_id, index, start, end, text, role, position}
// source: VeriTrail 3.2 (selected sentences with their node ids)
UNWIND $rows AS row
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = row.node_id
MERGE (n:Sentence {
  process_id: $process_id, node_id: row.node_id, index: row.index, start: row.start, end: row.end
})
ON CREATE SET n.text = row.text
MERGE (n)-[:SENTENCE_OF]->(s)
WITH row, n
MATCH (e:Evidence {evidence_id: row.evidence_id})
CREATE (e)-[:CITES {role: row.role, position: row.position}]->(n)
