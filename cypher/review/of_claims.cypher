// purpose: The reviews of claims, and the verdict of each claim's verification in force.
// param process_id: string - the process
// param claim_ids: list - the claims; those without a review are left out
// column claim_id: string - the claim
// column verdict: string - the verdict of its verification in force, or null
// column reviews: list - properties of each review, the oldest first
// source: ours
UNWIND $claim_ids AS claim_id
MATCH (c:Claim {process_id: $process_id, claim_id: claim_id})<-[:REVIEWS]-(r:Review)
WITH c, r ORDER BY r.created_at, r.review_id
WITH c, collect(properties(r)) AS reviews
RETURN c.claim_id AS claim_id, head(COLLECT {
         MATCH (c)-[:IN_FORCE]->(v:Verification)
         RETURN v.verdict
       }) AS verdict, reviews
