// purpose: The claims of turns as runs found them, with what they were compared with and what they contradict.
// param process_id: string - the dialogue
// param rows: list - [node_id, run_id] of each turn
// column node_id: string - the turn
// column properties: map - properties of the verification of a claim
// column compared: list - [position, claim_id] of what it was compared with
// column contradicts: list - [position, claim_id] of what the claim contradicts
// source: VISTA 3, steps 2 and 3
UNWIND $rows AS row
MATCH (t:TurnVerification)
WHERE t.process_id = $process_id AND t.node_id = row[0] AND t.run_id = row[1]
MATCH (t)<-[:PART_OF]-(v:Verification)
RETURN t.node_id AS node_id, properties(v) AS properties, COLLECT {
         MATCH (v)-[r:COMPARED_WITH]->(b:Claim)
         RETURN [r.position, b.claim_id]
       } AS compared, COLLECT {
         MATCH (v)-[:VERIFIES]->(:Claim)-[r:CONTRADICTS]->(b:Claim)
         WHERE r.run_id = v.run_id
         RETURN [r.position, b.claim_id]
       } AS contradicts
ORDER BY node_id, properties.place
