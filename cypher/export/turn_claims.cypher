// purpose: Verifications of the claims of turns as they are stored, with what they were compared with.
// param process_id: string - the process
// param rows: list - [node_id, run_id] of each turn
// column properties: map - properties of the verification
// column compared: list - [position, claim_id] of what it was compared with
// source: VISTA 3, steps 2 and 3
UNWIND $rows AS row
MATCH (t:TurnVerification)
WHERE t.process_id = $process_id AND t.node_id = row[0] AND t.run_id = row[1]
MATCH (t)<-[:PART_OF]-(v:Verification)
RETURN properties(v) AS properties, COLLECT {
         MATCH (v)-[r:COMPARED_WITH]->(b:Claim)
         RETURN [r.position, b.claim_id]
       } AS compared
ORDER BY properties.verification_id
