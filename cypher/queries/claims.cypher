// purpose: Claims of a process with the verdict of each claim's verification in force.
// param process_id: string - the process
// param asked: boolean = false - questions that were asked, instead of the claims of the answer
// param limit: integer = 100 in 1..10000 - at most this many
// column claim_id: string - the claim
// column claim: string - its text
// column node_id: string - the node that states it
// column verdict: string - the verdict, or null
// column indicative: boolean - whether no model judged, so that the verdict is indicative only
// column review: string - what the claim's latest review is to this verdict: confirmed, overridden or unclear; null without one
// column reviewed_verdict: string - the verdict of that review; null where it calls the claim unclear
// column engine: string - the engine of judgement
// column verification_id: string - the verification
// column created_at: string - when it was made
// column verifications: integer - how many verifications the claim has, whatever their status
// column status: string - that of the verification in force, else of the latest one of its text: undecided and failed have no verdict; undecided, too, where the check of its turn could not tell; null: never verified
// group: Claims and verdicts
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id})
WHERE $asked = (c.origin IS NOT NULL)
WITH c ORDER BY c.position, c.claim_id LIMIT $limit
OPTIONAL MATCH (c)<-[:VERIFIES]-(x:Verification {method: 'veritrail'})
WITH c, x ORDER BY x.created_at DESC, x.verification_id DESC
WITH c, count(x) AS verifications,
     head(collect(CASE WHEN x.claim IN [c.text, c.text + '.'] OR c.text = x.claim + '.' THEN x END)) AS latest
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)
WITH c, verifications, latest, v, head(COLLECT {
       MATCH (c)<-[:REVIEWS]-(r:Review)
       RETURN r ORDER BY coalesce(r.adjudicates, false) DESC, r.created_at DESC, r.review_id DESC LIMIT 1
     }) AS r
RETURN c.claim_id AS claim_id, c.text AS claim, c.node_id AS node_id, v.verdict AS verdict,
       v.indicative AS indicative, CASE
         WHEN r.verdict = 'UNCLEAR' THEN 'unclear'
         WHEN r.verdict = v.verdict THEN 'confirmed'
         WHEN r.verdict IS NOT NULL THEN 'overridden'
       END AS review,
       CASE WHEN r.verdict <> 'UNCLEAR' THEN r.verdict END AS reviewed_verdict,
       v.engine AS engine, v.verification_id AS verification_id, v.created_at AS created_at,
       verifications, coalesce(v.status, latest.status, c.turn_status) AS status
ORDER BY c.position, c.claim_id
