// purpose: Of turns of which no result counts, how their latest verification ended.
// param process_id: string - the dialogue
// param node_ids: list - the turns
// column node_id: string - the turn
// column status: string - how it ended
// column error: string - why it did not succeed
// column run_id: string - the run
// source: ours
UNWIND $node_ids AS node_id
MATCH (t:TurnVerification)
WHERE t.process_id = $process_id AND t.node_id = node_id
WITH t ORDER BY t.node_id, t.created_at DESC, t.run_id DESC
WITH t.node_id AS turn, collect(t) AS found
WITH turn, found[0] AS last
RETURN turn AS node_id, last.status AS status, last.error AS error, last.run_id AS run_id
