// purpose: What share of the assistant's claims is verifiable, and verified, in each turn.
// param process_id: string - the dialogue
// param limit: integer = 1000 in 1..10000 - at most this many
// column turn: integer - the number of the turn
// column node_id: string - the turn
// column label: string - VERIFIED or UNVERIFIABLE; null without claims, and where undecided ones leave it open
// column claims: integer - its claims
// column verifiable: integer - those that a source could confirm: neither opinions nor abstentions
// column share_verifiable: float - these of all claims; null without claims, and where some are undecided
// column verified: integer - claims that are verified
// column contradicted: integer - claims that are contradicted
// column lacking_evidence: integer - claims that lack evidence
// column out_of_scope: integer - opinions, experiences and the like
// column abstentions: integer - claims that the assistant does not know, or refuses
// column undecided: integer - claims of which the judge could not tell
// column score: float - verified claims of the verifiable ones; null where there is none, or some are undecided
// group: Dialogues
// example: process_id=lindholm-dialogue
// source: VISTA 3 (steps 4 and 5); the score is ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (t:TurnVerification {process_id: $process_id})
WHERE t.in_force
MATCH (t)-[:OF_TURN]->(s:Span)
OPTIONAL MATCH (t)<-[:PART_OF]-(v:Verification)
WITH t, s.stage AS turn, count(v) AS claims, collect(v.category) AS categories,
     sum(CASE WHEN v.status = 'undecided' THEN 1 ELSE 0 END) AS undecided
WITH t, turn, claims, undecided,
     size([one IN categories WHERE one = 'VERIFIED']) AS verified,
     size([one IN categories WHERE one = 'CONTRADICTED']) AS contradicted,
     size([one IN categories WHERE one = 'LACKING_EVIDENCE']) AS lacking_evidence,
     size([one IN categories WHERE one = 'OUT_OF_SCOPE']) AS out_of_scope,
     size([one IN categories WHERE one = 'ABSTENTION']) AS abstentions
WITH *, verified + contradicted + lacking_evidence AS verifiable
RETURN turn, t.node_id AS node_id, t.label AS label, claims, verifiable,
       CASE WHEN claims > 0 AND undecided = 0 THEN toFloat(verifiable) / claims END AS share_verifiable,
       verified, contradicted, lacking_evidence, out_of_scope, abstentions, undecided,
       t.score AS score
ORDER BY turn
LIMIT $limit
