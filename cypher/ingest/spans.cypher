// purpose: Store a batch of spans, and return how many were stored; none when another writer has the process.
// param process_id: string - the process
// param owner: string - who is writing it
// param rows: list - [node_id, text, stage, position, role, kind, step, model, prompt, metadata, origin, question, caption]
// column stored: integer - how many
// column elements: list - [position, element id] of each, by which the edges find it a moment later
// source: VeriTrail 2 (a node is a text span)
MATCH (p:Process {process_id: $process_id, owner: $owner})
UNWIND $rows AS row
CREATE (s:Span {
  process_id: $process_id, node_id: row[0], text: row[1], stage: row[2], position: row[3],
  role: row[4], kind: row[5], step: row[6], model: row[7], prompt: row[8], metadata: row[9],
  origin: row[10], question: row[11], caption: row[12]
})
RETURN count(*) AS stored, collect([row[3], elementId(s)]) AS elements
