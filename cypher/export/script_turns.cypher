// purpose: Script: write what was found of turns.
// param process_id: string - the process
// param rows: list - properties of each
// source: VISTA 3
UNWIND $rows AS row
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = row.node_id
CREATE (t:TurnVerification)
SET t = row
CREATE (t)-[:OF_TURN]->(s)
