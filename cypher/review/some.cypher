// purpose: Some reviews, by their ids.
// param review_ids: list - the reviews
// column properties: map - the properties of one that is stored
// source: ours
UNWIND $review_ids AS review_id
MATCH (r:Review {review_id: review_id})
RETURN properties(r) AS properties
