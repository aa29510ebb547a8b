// purpose: Write sentences that evidence cites, beyond those of its first statement.
// param process_id: string - the process
// param rows: list - [evidence_id, [node_id, index, start, end, text, caption, role, position, says, part, sides, what it says in the trail, whether the trail cites it], verification_id]
// source: VeriTrail 3.2 (selected sentences with their node ids)
UNWIND $rows AS row
WITH row[0] AS evidence_id, row[1] AS cited, row[2] AS verification_id
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = cited[0]
MERGE (n:Sentence {
  process_id: $process_id, node_id: cited[0], index: cited[1], start: cited[2], end: cited[3]
})
ON CREATE SET n.text = cited[4], n.caption = cited[5]
MERGE (n)-[:SENTENCE_OF]->(s)
WITH evidence_id, cited, verification_id, n
MATCH (e:Evidence {evidence_id: evidence_id})
CREATE (e)-[:CITES {
  role: cited[6], position: cited[7], says: cited[8], part: cited[9], sides: cited[10]
}]->(n)
WITH cited, verification_id, n
WHERE cited[12]
MATCH (t:TrailNode)
WHERE t.verification_id = verification_id AND t.node_id = cited[0]
CREATE (t)-[:CITES {says: cited[11]}]->(n)
