// purpose: Let what a run found of a turn count, unless it did not succeed, or what counts is of a better kind.
// param process_id: string - the dialogue
// param node_id: string - the turn
// param run_id: string - the run
// source: ours
MATCH (t:TurnVerification {process_id: $process_id, node_id: $node_id, run_id: $run_id})
MATCH (t)-[:OF_TURN]->(s:Span)
WHERE t.status IN ['succeeded', 'undecided'] AND NOT EXISTS {
  // A model's result is of a better kind than none, and of two of a kind the one of the whole method.
  MATCH (s)<-[:OF_TURN]-(o:TurnVerification {in_force: true})
  WHERE o.run_id <> t.run_id AND (
    t.indicative AND NOT o.indicative
    OR t.indicative = o.indicative AND coalesce(t.ablated, false) AND NOT coalesce(o.ablated, false)
  )
}
CALL (s, t) {
  MATCH (s)<-[:OF_TURN]-(o:TurnVerification)
  SET o.in_force = (o.run_id = t.run_id)
}
CALL (s) {
  MATCH (s)<-[:EXTRACTED_FROM]-(c:Claim)
  SET c.category = null, c.turn_status = null
}
CALL (t) {
  MATCH (t)<-[:PART_OF]-(v:Verification)-[:VERIFIES]->(c:Claim)
  SET c.category = v.category,
      c.turn_status = CASE WHEN v.status = 'undecided' THEN v.status END
}
