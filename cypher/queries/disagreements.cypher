// purpose: Claims on which reviewers disagree with the verdict in force, or with each other; the latest review of each reviewer counts, or one that decides between them.
// param process_id: string - the process
// param limit: integer = 100 in 1..10000 - at most this many
// column claim_id: string - the claim
// column claim: string - its text
// column verdict: string - the verdict of its verification in force
// column reviewed_verdict: string - the verdict of the latest review that decides between reviewers, else of its latest; null where that calls it unclear
// column with_model: boolean - whether these two differ
// column with_each_other: boolean - whether the reviewers differ, and none of them has decided
// column reviews: list - the latest review of each reviewer: {reviewer, verdict, reason, created_at}
// column verification_id: string - the verification
// column engine: string - its engine of judgement
// column model: string - its model
// column indicative: boolean - whether no model judged, so that the verdict is indicative only
// column status: string - that of the verification in force: one that is undecided has no verdict
// group: Reviews by people
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id})<-[:REVIEWS]-(r:Review)
WHERE c.origin IS NULL
WITH c, r ORDER BY r.created_at DESC, r.review_id DESC
WITH c, r.reviewer AS reviewer, head(collect(r)) AS r
ORDER BY r.created_at DESC, r.review_id DESC
WITH c, collect(r) AS counting
WITH c, counting, head(COLLECT {
       MATCH (c)-[:IN_FORCE]->(v:Verification)
       RETURN v
     }) AS v, head(COLLECT {
       MATCH (c)<-[:REVIEWS]-(r:Review {adjudicates: true})
       RETURN r.verdict ORDER BY r.created_at DESC, r.review_id DESC LIMIT 1
     }) AS decided
WITH c, counting, v, decided, coalesce(decided, counting[0].verdict) AS said
WITH c, counting, v, said,
     said <> 'UNCLEAR' AND v.verdict IS NOT NULL AND said <> v.verdict AS with_model,
     decided IS NULL AND any(one IN counting WHERE one.verdict <> said) AS with_each_other
WHERE with_model OR with_each_other
WITH c, counting, v, said, with_model, with_each_other
ORDER BY c.position, c.claim_id LIMIT $limit
RETURN c.claim_id AS claim_id, c.text AS claim, v.verdict AS verdict,
       CASE WHEN said <> 'UNCLEAR' THEN said END AS reviewed_verdict, with_model, with_each_other,
       [one IN counting | {
         reviewer: one.reviewer, verdict: one.verdict, reason: one.reason,
         created_at: one.created_at
       }] AS reviews,
       v.verification_id AS verification_id, v.engine AS engine, v.model AS model,
       v.indicative AS indicative, v.status AS status
ORDER BY c.position, c.claim_id
