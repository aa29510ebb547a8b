// purpose: Bloom, "Reviews of process $process": what reviewers wrote about which claims and verdicts.
// param process: string - the process
// column r: any - a review
// column reviews: any - that it reviews the claim
// column c: any - the claim
// column considers: any - that it is about the verdict of the verification
// column v: any - the verification
// column verifies: any - that this verifies the claim
// source: ours
MATCH (:Process {process_id: $process, status: 'ready'})
MATCH (r:Review {process_id: $process})-[reviews:REVIEWS]->(c:Claim)
WITH r, reviews, c ORDER BY r.created_at DESC, r.review_id DESC LIMIT 1000
OPTIONAL MATCH (r)-[considers:CONSIDERS]->(v:Verification)-[verifies:VERIFIES]->(c)
RETURN r, reviews, c, considers, v, verifies
ORDER BY r.created_at DESC, r.review_id DESC
LIMIT 1000
