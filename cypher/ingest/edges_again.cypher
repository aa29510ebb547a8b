// purpose: Store a batch of edges of which it is not known whether it is stored.
// param process_id: string - the process
// param owner: string - who is writing it
// param rows: list - [target, [whether it cites them, how they were inferred, score], [source, …]]
// column stored: integer - how many are there now
// source: VeriTrail 2 (u was an input to the step that produced v)
MATCH (p:Process {process_id: $process_id, owner: $owner})
UNWIND $rows AS row
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = row[0]
UNWIND row[2] AS source
MATCH (u:Span)
WHERE u.process_id = $process_id AND u.node_id = source
MERGE (u)-[r:INPUT_TO]->(v)
SET r.cited = row[1][0], r.inferred = row[1][1], r.score = row[1][2]
RETURN count(*) AS stored
