// purpose: Store new processes with all of their spans, which readers see when the transaction ends.
// param rows: list - [properties of a process, its spans]; a span: [node_id, text, stage, position, role, kind, step, model, prompt, metadata, origin, question, caption]
// column process_id: string - a process
// column elements: list - [position, element id] of each, by which the edges find it a moment later
// source: VeriTrail 2 (a node is a text span)
UNWIND $rows AS one
CREATE (p:Process)
SET p = one[0]
WITH p, one[1] AS spans
UNWIND spans AS row
CREATE (s:Span {
  process_id: p.process_id, node_id: row[0], text: row[1], stage: row[2], position: row[3],
  role: row[4], kind: row[5], step: row[6], model: row[7], prompt: row[8], metadata: row[9],
  origin: row[10], question: row[11], caption: row[12]
})
FOREACH (_ IN CASE WHEN row[0] IN p.terminals THEN [1] ELSE [] END |
  CREATE (p)-[:HAS_FINAL_OUTPUT]->(s)
)
RETURN p.process_id AS process_id, collect([row[3], elementId(s)]) AS elements
