// purpose: Store claims that are not there yet, each with the span that it was extracted from.
// param process_id: string - the process
// param rows: list - {claim_id, node_id, text, start, end, also, sub_claims, label, origin, said, position}
// column added: integer - how many were not there before
// source: VeriTrail 3.1 (claims are extracted from the terminal node)
UNWIND $rows AS row
// By itself, as the embedded engine else holds the text of the span once for every claim.
CALL (row) {
  WITH row, replace(replace(replace(row.text, '\r\n', ' '), '\n', ' '), '\r', ' ') AS line
  MATCH (s:Span)
  WHERE s.process_id = $process_id AND s.node_id = row.node_id
  MERGE (c:Claim {process_id: $process_id, claim_id: row.claim_id})
  ON CREATE SET c.text = row.text, c.node_id = row.node_id, c.start = row.start, c.end = row.end,
                c.also = row.also, c.sub_claims = row.sub_claims, c.label = row.label,
                c.origin = row.origin, c.said = row.said, c.position = row.position,
                c.caption = CASE WHEN left(line, 40) = line THEN line ELSE left(line, 39) + '…' END
  MERGE (c)-[:EXTRACTED_FROM]->(s)
  RETURN c.claim_id AS stored
}
RETURN count(stored) AS added
