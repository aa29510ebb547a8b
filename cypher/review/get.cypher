// purpose: One review, by its id.
// param review_id: string - the review
// column properties: map - its properties
// source: ours
MATCH (r:Review {review_id: $review_id})
RETURN properties(r) AS properties
