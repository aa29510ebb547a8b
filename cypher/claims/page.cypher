// purpose: A window of the claims of a process that is ready, in the order of the input, with how each was judged.
// param process_id: string - the process
// param after: integer - position of the last claim before; -1 at first
// param after_id: string - its claim_id; empty at first
// param node_id: string - only claims about this node; null: about any
// param asked: boolean - questions instead of the claims of the answer
// param window: integer - the most claims that are looked at
// param verdict: string - only claims with this verdict; or none, undecided, failed or unchecked: those without one; of them those that could not be decided, those the latest verification of whose text came to no end, the others; null: any
// param error_stage: integer - only claims with this error stage; null: any
// param review: string - none, any, confirmed, overridden or unclear; null: whatever was said
// column position: integer - its place among the claims of the process
// column claim_id: string - the claim
// column claim: map - properties of the claim; null where it is none of those that are asked for
// column verification: map - properties of its verification in force, or null
// column verifications: integer - how many verifications it has, whatever their status
// column latest: list - [status, error] of the latest verification of its text, or null
// source: VeriTrail 3.2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id})
WHERE (c.position > $after OR (c.position = $after AND c.claim_id > $after_id))
  AND ($node_id IS NULL OR c.node_id = $node_id)
  AND $asked = (c.origin IS NOT NULL)
WITH c ORDER BY c.position, c.claim_id LIMIT $window
OPTIONAL MATCH (c)<-[:VERIFIES]-(x:Verification {method: 'veritrail'})
WITH c, x ORDER BY x.created_at DESC, x.verification_id DESC
WITH c, count(x) AS verifications,
     head(collect(CASE WHEN x.claim IN [c.text, c.text + '.'] OR c.text = x.claim + '.' THEN x END)) AS latest
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)
WITH c, verifications, latest, v, CASE WHEN $review IS NULL THEN null ELSE head(COLLECT {
       MATCH (c)<-[:REVIEWS]-(r:Review)
       RETURN r.verdict ORDER BY coalesce(r.adjudicates, false) DESC, r.created_at DESC, r.review_id DESC LIMIT 1
     }) END AS said
WITH c, verifications, latest, v,
     ($verdict IS NULL OR CASE
       WHEN v.verdict IS NOT NULL THEN v.verdict = $verdict
       WHEN coalesce(v.status, latest.status, c.turn_status) = 'undecided' THEN $verdict IN ['none', 'undecided']
       WHEN latest.status IN ['failed', 'over_budget', 'cancelled'] THEN $verdict IN ['none', 'failed']
       ELSE $verdict IN ['none', 'unchecked']
     END)
     AND ($error_stage IS NULL OR $error_stage IN coalesce(v.error_stages, []))
     AND ($review IS NULL OR CASE $review
       WHEN 'none' THEN said IS NULL
       WHEN 'any' THEN said IS NOT NULL
       WHEN 'unclear' THEN said = 'UNCLEAR'
       WHEN 'confirmed' THEN said = v.verdict
       ELSE said <> 'UNCLEAR' AND said <> coalesce(v.verdict, '')
     END) AS is_wanted
RETURN c.position AS position, c.claim_id AS claim_id,
       CASE WHEN coalesce(is_wanted, false) THEN properties(c) END AS claim,
       CASE WHEN coalesce(is_wanted, false) THEN properties(v) END AS verification, verifications,
       CASE WHEN latest IS NOT NULL THEN [latest.status, latest.error] END AS latest
ORDER BY position, claim_id
