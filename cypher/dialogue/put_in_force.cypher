// purpose: Let what a run found of a turn count, unless it did not succeed, or no model was asked and one was before.
// param process_id: string - the dialogue
// param node_id: string - the turn
// param run_id: string - the run
// source: ours
MATCH (t:TurnVerification {process_id: $process_id, node_id: $node_id, run_id: $run_id})
MATCH (t)-[:OF_TURN]->(s:Span)
WHERE t.status = 'succeeded' AND (NOT t.indicative OR NOT EXISTS {
  (s)<-[:OF_TURN]-(o:TurnVerification {in_force: true, indicative: false})
})
CALL (s, t) {
  MATCH (s)<-[:OF_TURN]-(o:TurnVerification)
  SET o.in_force = (o.run_id = t.run_id)
}
CALL (s) {
  MATCH (s)<-[:EXTRACTED_FROM]-(c:Claim)
  SET c.category = null
}
CALL (t) {
  MATCH (t)<-[:PART_OF]-(v:Verification)-[:VERIFIES]->(c:Claim)
  SET c.category = v.category
}
