// purpose: Store a batch of spans, and return how many were stored; none when another writer has the process.
// param process_id: string - the process
// param owner: string - who is writing it
// param rows: list - [node_id, text, stage, position, role, kind, step, model, prompt, metadata, origin, question]
// column stored: integer - how many
// source: VeriTrail 2 (a node is a text span)
MATCH (p:Process {process_id: $process_id, owner: $owner})
UNWIND $rows AS row
WITH row, CASE row[1] WHEN '' THEN row[0] ELSE left(row[1], 82) END AS start
WITH row, replace(replace(replace(start, '\r\n', ' '), '\n', ' '), '\r', ' ') AS line
CREATE (:Span {
  process_id: $process_id, node_id: row[0], text: row[1], stage: row[2], position: row[3],
  role: row[4], kind: row[5], step: row[6], model: row[7], prompt: row[8], metadata: row[9],
  origin: row[10], question: row[11],
  caption: CASE WHEN left(line, 40) = line THEN line ELSE left(line, 39) + '…' END
})
RETURN count(*) AS stored
