// purpose: Bloom, action on selected claims: all their reviews.
// param nodes: list - internal ids of what is selected
// column c: any - a selected claim
// column reviews: any - that the review is about it
// column r: any - a review
// source: ours
MATCH (c:Claim)<-[reviews:REVIEWS]-(r:Review)
WHERE elementId(c) IN $nodes
RETURN c, reviews, r
ORDER BY c.position, r.created_at DESC
LIMIT 1000
