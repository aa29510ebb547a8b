// purpose: Make the key of reviews: review_id.
// source: ours
CREATE CONSTRAINT veritrail_review_key IF NOT EXISTS
FOR (r:Review) REQUIRE r.review_id IS UNIQUE
