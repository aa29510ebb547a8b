// purpose: Remove the verifications of the claims of a turn that a run wrote before.
// param process_id: string - the dialogue
// param node_id: string - the turn
// param run_id: string - the run
// source: ours
MATCH (t:TurnVerification {process_id: $process_id, node_id: $node_id, run_id: $run_id})
MATCH (t)<-[:PART_OF]-(v:Verification)
DETACH DELETE v
