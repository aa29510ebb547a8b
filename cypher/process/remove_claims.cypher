// purpose: Remove claims that have no verifications (any more), with their reviews.
// param process_id: string - the process
// param claim_ids: list - the claims
// param force: boolean - whether they may have reviews
// column done: integer - how many there were
// source: ours
UNWIND $claim_ids AS claim_id
MATCH (c:Claim {process_id: $process_id, claim_id: claim_id})
// Locks the claim, so that a review that is being appended is seen, or finds no claim.
SET c.asked = true
REMOVE c.asked
WITH c
WHERE NOT EXISTS { (c)<-[:VERIFIES]-(:Verification) }
  AND ($force OR NOT EXISTS { (c)<-[:REVIEWS]-(:Review) })
OPTIONAL MATCH (c)<-[:REVIEWS]-(r:Review)
WITH c, collect(r) AS reviews
CALL (reviews) {
  UNWIND reviews AS review
  DETACH DELETE review
}
WITH c
DETACH DELETE c
RETURN count(*) AS done
