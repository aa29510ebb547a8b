// purpose: Claims of turns by their ids, with the turns that make them.
// param process_id: string - the dialogue
// param claim_ids: list - the claims
// param longest: integer - at most this many characters of a text
// column claim_id: string - a claim that is there
// column text: string - what it says, or how it begins
// column node_id: string - the turn
// column stage: integer - the number of the turn
// source: ours
UNWIND $claim_ids AS claim_id
MATCH (c:Claim)
WHERE c.process_id = $process_id AND c.claim_id = claim_id
MATCH (c)-[:EXTRACTED_FROM]->(s:Span)
RETURN c.claim_id AS claim_id, left(c.text, $longest) AS text, s.node_id AS node_id,
       s.stage AS stage
