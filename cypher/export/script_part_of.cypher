// purpose: Script: link verifications of claims to what was found of their turns.
// param process_id: string - the process
// param rows: list - [verification_id, node_id, run_id]
// source: VISTA 3
UNWIND $rows AS row
MATCH (v:Verification {verification_id: row[0]})
MATCH (t:TurnVerification)
WHERE t.process_id = $process_id AND t.node_id = row[1] AND t.run_id = row[2]
CREATE (v)-[:PART_OF]->(t)
