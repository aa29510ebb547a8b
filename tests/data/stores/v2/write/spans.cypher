// purpose: Store a batch of spans.
// param process_id: string - the process
// param rows: list - [node_id, text, stage, position, role, kind, step, model, prompt, metadata]
// source: VeriTrail 2 (a node is a text span)
UNWIND $rows AS row
CREATE (:Span {
  process_id: $process_id, node_id: row[0], text: row[1], stage: row[2], position: row[3],
  role: row[4], kind: row[5], step: row[6], model: row[7], prompt: row[8], metadata: row[9]
})
