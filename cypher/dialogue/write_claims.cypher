// purpose: Write the verifications of claims of a turn, what they were compared with, and what they contradict.
// param process_id: string - the dialogue
// param node_id: string - the turn
// param run_id: string - the run
// param rows: list - {verification_id, claim_id, properties, compared, contradicts}
// column verification_id: string - a verification whose claim is there
// source: VISTA 3, steps 2 and 3
MATCH (t:TurnVerification {process_id: $process_id, node_id: $node_id, run_id: $run_id})
UNWIND $rows AS row
MATCH (c:Claim {process_id: $process_id, claim_id: row.claim_id})
MERGE (v:Verification {verification_id: row.verification_id})
SET v = row.properties
MERGE (v)-[:VERIFIES]->(c)
MERGE (v)-[:PART_OF]->(t)
WITH v, c, row
CALL (v, row) {
  UNWIND row.compared AS one
  MATCH (b:Claim {process_id: $process_id, claim_id: one[0]})
  CREATE (v)-[:COMPARED_WITH {position: one[1]}]->(b)
}
CALL (c, row) {
  UNWIND row.contradicts AS one
  MATCH (b:Claim {process_id: $process_id, claim_id: one[0]})
  CREATE (c)-[:CONTRADICTS {run_id: $run_id, position: one[1], quotes: one[2]}]->(b)
}
RETURN v.verification_id AS verification_id
