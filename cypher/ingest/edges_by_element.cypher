// purpose: Store a batch of edges of which nothing is known but their ends, and say how many were stored.
// param process_id: string - the process
// param owner: string - who is writing it
// param rows: list - [element id of the target, nothing, [element id of a source, …]]
// column stored: integer - how many
// source: VeriTrail 2 (u was an input to the step that produced v)
MATCH (p:Process {process_id: $process_id, owner: $owner})
UNWIND $rows AS row
MATCH (v)
WHERE elementId(v) = row[0]
UNWIND row[2] AS source
MATCH (u)
WHERE elementId(u) = source
CREATE (u)-[:INPUT_TO]->(v)
RETURN count(*) AS stored
