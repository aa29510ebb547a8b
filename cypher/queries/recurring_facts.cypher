// purpose: Claims that the assistant makes in several turns, the most frequent first; letter case and a full stop aside.
// param process_id: string - the dialogue
// param limit: integer = 100 in 1..10000 - at most this many
// column claim: string - the claim, as it was made first
// column turns: integer - in how many turns
// column first_turn: integer - the number of the first one
// column last_turn: integer - the number of the last one
// column categories: list - its categories, each once; empty: all are undecided
// group: Dialogues
// example: process_id=lindholm-dialogue
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (t:TurnVerification {process_id: $process_id})
WHERE t.in_force
MATCH (t)-[:OF_TURN]->(s:Span)<-[:EXTRACTED_FROM]-(c:Claim)
WHERE c.category IS NOT NULL OR c.turn_status IS NOT NULL
WITH CASE WHEN c.text ENDS WITH '.' THEN toLower(left(c.text, size(c.text) - 1))
          ELSE toLower(c.text) END AS said, s.stage AS turn, c.text AS text,
     c.category AS category
ORDER BY turn
WITH said, collect(text) AS texts, collect(DISTINCT turn) AS turns,
     collect(DISTINCT category) AS categories
WHERE size(turns) > 1
RETURN texts[0] AS claim, size(turns) AS turns, turns[0] AS first_turn, turns[-1] AS last_turn,
       categories
ORDER BY turns DESC, first_turn, claim
LIMIT $limit
