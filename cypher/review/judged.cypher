// purpose: All reviews of a process without their reasons, and who gave the verdicts that were reviewed, packed, in no order.
// param process_id: string - the process
// param window: integer - reviews a row
// column reviews: list - [review_id, claim_id, claim, verdict, reviewer, created_at, model_verdict, adjudicates, engine, model] of each review; the last four may be null
// source: ours
MATCH (r:Review {process_id: $process_id})
OPTIONAL MATCH (r)-[:CONSIDERS]->(v:Verification)
WITH collect([
       r.review_id, r.claim_id, r.claim, r.verdict, r.reviewer, r.created_at, r.model_verdict,
       r.adjudicates, v.engine, v.model
     ]) AS every
UNWIND range(0, size(every) - 1, $window) AS start
RETURN every[start..start + $window] AS reviews
