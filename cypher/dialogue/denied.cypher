// purpose: Claims that later claims contradict, in one run or as it counts.
// param process_id: string - the dialogue
// param claim_ids: list - the claims
// param run_id: string - the run; null: what counts, of each turn
// param most: integer - at most this many later claims of each
// param longest: integer - at most this many characters of a text
// column claim_id: string - a claim that is contradicted
// column number: integer - how many later claims contradict it
// column later: list - [stage, node_id, claim_id, text] of the first of them
// source: VISTA 3, step 3
UNWIND $claim_ids AS claim_id
MATCH (b:Claim)
WHERE b.process_id = $process_id AND b.claim_id = claim_id
MATCH (b)<-[r:CONTRADICTS]-(c:Claim)-[:EXTRACTED_FROM]->(s:Span)<-[:OF_TURN]-(t:TurnVerification)
WHERE t.run_id = r.run_id AND (t.run_id = $run_id OR ($run_id IS NULL AND t.in_force))
WITH b.claim_id AS claim_id, s.stage AS stage, c.position AS position, s.node_id AS node_id,
     c.claim_id AS later_id, left(c.text, $longest) AS text
ORDER BY claim_id, stage, position
WITH claim_id, collect([stage, node_id, later_id, text]) AS found
RETURN claim_id, size(found) AS number, found[0..$most] AS later
