// purpose: Store what became of the sentences of a node from which claims were extracted.
// param process_id: string - the process
// param node_id: string - the node
// param rows: list - {position, start, end, text, outcome, reason, claim_ids}
// source: VeriTrail 3.1 (Claimify: claims of each sentence, or why there are none)
MATCH (s:Span {process_id: $process_id, node_id: $node_id})
UNWIND $rows AS row
WITH s, row, replace(replace(replace(row.text, '\r\n', ' '), '\n', ' '), '\r', ' ') AS line
CREATE (:Extraction {
  process_id: $process_id, node_id: $node_id, position: row.position, start: row.start,
  end: row.end, text: row.text, outcome: row.outcome, reason: row.reason, claim_ids: row.claim_ids,
  caption: CASE WHEN left(line, 40) = line THEN line ELSE left(line, 39) + '…' END
})-[:EXTRACTION_OF]->(s)
