// purpose: Claims of a process that is ready, those first that need attention, with how each was judged.
// param process_id: string - the process
// param ranks: map - the place of a state among the others: of a verdict, or of undecided, failed and unchecked
// param rank: integer - that of the last claim before; -1 at first
// param after: integer - its position; -1 at first
// param after_id: string - its claim_id; empty at first
// param limit: integer - the most claims that are given
// column rank: integer - the place of its state
// column position: integer - its place among the claims of the process
// column claim: map - properties of the claim
// column verification: map - properties of its verification in force, or null
// column verifications: integer - how many verifications it has, whatever their status
// column latest: list - [status, error] of the latest verification of its text, or null
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id})
WHERE c.origin IS NULL
OPTIONAL MATCH (c)<-[:VERIFIES]-(x:Verification {method: 'veritrail'})
WITH c, x ORDER BY x.created_at DESC, x.verification_id DESC
WITH c, count(x) AS verifications,
     head(collect(CASE WHEN x.claim IN [c.text, c.text + '.'] OR c.text = x.claim + '.' THEN x END)) AS latest
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)
WITH c, verifications, latest, v, $ranks[CASE
       WHEN v.verdict IS NOT NULL THEN v.verdict
       WHEN coalesce(v.status, latest.status, c.turn_status) = 'undecided' THEN 'undecided'
       WHEN latest.status IN ['failed', 'over_budget', 'cancelled'] THEN 'failed'
       ELSE 'unchecked'
     END] AS rank
WHERE rank > $rank OR (rank = $rank
      AND (c.position > $after OR (c.position = $after AND c.claim_id > $after_id)))
WITH c, verifications, latest, v, rank ORDER BY rank, c.position, c.claim_id LIMIT $limit
RETURN rank, c.position AS position, properties(c) AS claim, properties(v) AS verification,
       verifications, CASE WHEN latest IS NOT NULL THEN [latest.status, latest.error] END AS latest
ORDER BY rank, position, claim.claim_id
