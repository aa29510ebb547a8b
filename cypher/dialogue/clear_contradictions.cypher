// purpose: Remove the contradictions that a run found in the claims of a turn.
// param process_id: string - the dialogue
// param node_id: string - the turn
// param run_id: string - the run
// source: ours
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = $node_id
MATCH (s)<-[:EXTRACTED_FROM]-(c:Claim)-[r:CONTRADICTS {run_id: $run_id}]->(:Claim)
DELETE r
