// purpose: Which of these reviews are stored, of whatever process.
// param review_ids: list - the reviews
// column review_id: string - a review that is stored
// column process_id: string - its process
// source: ours
UNWIND $review_ids AS review_id
MATCH (r:Review {review_id: review_id})
RETURN review_id, r.process_id AS process_id
