// purpose: How many claims of each category a dialogue has, turn by turn, in one run or as it counts.
// param process_id: string - the dialogue
// param run_id: string - the run; null: what counts, of each turn
// column stage: integer - the number of the turn
// column status: string - how its verification ended
// column label: string - VERIFIED or UNVERIFIABLE; null: none
// column verified: integer - claims that are verified
// column contradicted: integer - claims that are contradicted
// column lacking_evidence: integer - claims that lack evidence
// column out_of_scope: integer - opinions, experiences and the like
// column abstentions: integer - claims that the assistant does not know, or refuses
// column without_category: integer - claims that are not verified, and were not asked why
// column failed: integer - claims whose check did not succeed
// column undecided: integer - claims of which the judge could not tell
// source: ours (the score of VISTA has no formula)
MATCH (t:TurnVerification {process_id: $process_id})
WHERE t.run_id = $run_id OR ($run_id IS NULL AND t.in_force)
MATCH (t)-[:OF_TURN]->(s:Span)
OPTIONAL MATCH (t)<-[:PART_OF]-(v:Verification)
WITH t, s.stage AS stage, collect(CASE
       WHEN v IS NULL THEN null
       WHEN v.status = 'undecided' THEN 'UNDECIDED'
       WHEN v.status <> 'succeeded' THEN 'FAILED'
       ELSE coalesce(v.category, 'NONE')
     END) AS found
RETURN stage, t.status AS status, t.label AS label,
       size([one IN found WHERE one = 'VERIFIED']) AS verified,
       size([one IN found WHERE one = 'CONTRADICTED']) AS contradicted,
       size([one IN found WHERE one = 'LACKING_EVIDENCE']) AS lacking_evidence,
       size([one IN found WHERE one = 'OUT_OF_SCOPE']) AS out_of_scope,
       size([one IN found WHERE one = 'ABSTENTION']) AS abstentions,
       size([one IN found WHERE one = 'NONE']) AS without_category,
       size([one IN found WHERE one = 'FAILED']) AS failed,
       size([one IN found WHERE one = 'UNDECIDED']) AS undecided
ORDER BY stage
