// purpose: Claims with conflicting verdicts: their succeeded verifications do not agree.
// param process_id: string - the process
// param claim_id: string = null - only this claim
// param limit: integer = 100 in 1..10000 - at most this many
// column claim_id: string - the claim; one row for each of its verdicts
// column claim: string - its text
// column verdict: string - a verdict
// column in_force: boolean - whether the verification in force gave it
// column reviewed_verdict: string - the verdict of the claim's latest review, or null
// column verifications: integer - how many gave it
// column verification_id: string - the latest of them
// column engine: string - its engine of judgement
// column model: string - its model
// column q: integer - its limit of consecutive Not Fully Supported verdicts
// column created_at: string - when it was made
// group: Claims and verdicts
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id})
      <-[:VERIFIES]-(v:Verification {status: 'succeeded', method: 'veritrail'})
WHERE (c.claim_id = $claim_id OR ($claim_id IS NULL AND c.origin IS NULL))
  AND (v.claim IN [c.text, c.text + '.'] OR c.text = v.claim + '.')
WITH c, v ORDER BY v.created_at DESC, v.verification_id DESC
WITH c, collect(v) AS each
WHERE any(v IN each WHERE v.verdict <> each[0].verdict)
UNWIND range(0, size(each) - 1) AS place
WITH c, each, each[place].verdict AS verdict, min(place) AS first, count(place) AS verifications
WITH c, verdict, first, each[first] AS v, verifications
ORDER BY c.position, c.claim_id, first LIMIT $limit
RETURN c.claim_id AS claim_id, c.text AS claim, verdict,
       EXISTS { (c)-[:IN_FORCE]->(:Verification {verdict: verdict}) } AS in_force,
       head(COLLECT {
         MATCH (c)<-[:REVIEWS]-(r:Review)
         RETURN CASE WHEN r.verdict <> 'UNCLEAR' THEN r.verdict END
         ORDER BY coalesce(r.adjudicates, false) DESC, r.created_at DESC, r.review_id DESC LIMIT 1
       }) AS reviewed_verdict, verifications,
       v.verification_id AS verification_id, v.engine AS engine, v.model AS model, v.q AS q,
       v.created_at AS created_at
ORDER BY c.position, c.claim_id, first
