// purpose: Store a batch of edges, grouped by their target.
// param process_id: string - the process
// param rows: list - [target, [[source, cited], …]]
// source: VeriTrail 2 (u was an input to the step that produced v)
UNWIND $rows AS row
MATCH (v:Span {process_id: $process_id, node_id: row[0]})
UNWIND row[1] AS input
MATCH (u:Span {process_id: $process_id, node_id: input[0]})
CREATE (u)-[:INPUT_TO {cited: input[1]}]->(v)
