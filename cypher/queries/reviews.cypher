// purpose: Reviews of a process: what reviewers wrote about the verdicts of its claims, the latest first.
// param process_id: string - the process
// param claim_id: string = null - only those of this claim
// param reviewer: string = null - only those of this reviewer
// param review: string = null in confirmed|overridden|unclear - only those that did this
// param limit: integer = 100 in 1..10000 - at most this many
// column review_id: string - the review
// column claim_id: string - the claim
// column claim: string - its text as it was reviewed
// column review: string - what it did to the verdict: confirmed, overridden or unclear
// column verdict: string - the verdict that was reviewed; null where there was none
// column reviewed_verdict: string - the reviewer's verdict; null where the claim is unclear
// column reason: string - the reviewer's reason
// column reviewer: string - who said so
// column recorded_by: string - name of the key that it came in with, or null
// column created_at: string - when
// column counts: boolean - whether it is the reviewer's latest of this claim, or the latest that decides between reviewers
// column verification_id: string - the verification whose verdict was reviewed, or null
// column engine: string - its engine of judgement
// column model: string - its model
// column indicative: boolean - whether no model judged, so that the verdict is indicative only
// group: Reviews by people
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (r:Review {process_id: $process_id})
WHERE ($claim_id IS NULL OR r.claim_id = $claim_id)
  AND ($reviewer IS NULL OR r.reviewer = $reviewer) AND ($review IS NULL OR r.kind = $review)
WITH r ORDER BY r.created_at DESC, r.review_id DESC LIMIT $limit
OPTIONAL MATCH (r)-[:CONSIDERS]->(v:Verification)
RETURN r.review_id AS review_id, r.claim_id AS claim_id, r.claim AS claim, r.kind AS review,
       r.model_verdict AS verdict,
       CASE WHEN r.verdict <> 'UNCLEAR' THEN r.verdict END AS reviewed_verdict,
       r.reason AS reason, r.reviewer AS reviewer, r.recorded_by AS recorded_by,
       r.created_at AS created_at,
       NOT EXISTS {
         MATCH (r)-[:REVIEWS]->(:Claim)<-[:REVIEWS]-(later:Review)
         WHERE CASE WHEN coalesce(r.adjudicates, false) THEN coalesce(later.adjudicates, false)
                    ELSE later.reviewer = r.reviewer END AND (
           later.created_at > r.created_at
           OR (later.created_at = r.created_at AND later.review_id > r.review_id)
         )
       } AS counts,
       v.verification_id AS verification_id, v.engine AS engine, v.model AS model,
       v.indicative AS indicative
ORDER BY r.created_at DESC, r.review_id DESC
