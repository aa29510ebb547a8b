// purpose: Turns in which the assistant contradicts what it said before, the first one first.
// param process_id: string - the dialogue
// param limit: integer = 100 in 1..10000 - at most this many
// column turn: integer - the number of the turn
// column node_id: string - the turn
// column claim: string - what it claims
// column earlier_turn: integer - the number of the turn that it contradicts
// column earlier_node_id: string - that turn
// column earlier_claim: string - what that turn claimed
// column quotes: list - what each of them says
// group: Dialogues
// example: process_id=lindholm-dialogue
// source: VISTA 3 (contradictions signal factual drift), 7.2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (t:TurnVerification {process_id: $process_id})
WHERE t.in_force
MATCH (t)-[:OF_TURN]->(s:Span)<-[:EXTRACTED_FROM]-(c:Claim)-[r:CONTRADICTS]->(b:Claim)
WHERE r.run_id = t.run_id
WITH s.stage AS turn, s.node_id AS node_id, c, r, b
MATCH (b)-[:EXTRACTED_FROM]->(e:Span)
RETURN turn, node_id, c.text AS claim, e.stage AS earlier_turn, e.node_id AS earlier_node_id,
       b.text AS earlier_claim, r.quotes AS quotes
ORDER BY turn, c.position, earlier_turn, b.position
LIMIT $limit
