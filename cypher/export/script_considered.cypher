// purpose: Script: write which verification a review is about.
// param rows: list - [review_id, verification_id]
// source: ours
UNWIND $rows AS row
MATCH (r:Review {review_id: row[0]})
MATCH (v:Verification {verification_id: row[1]})
CREATE (r)-[:CONSIDERS]->(v)
