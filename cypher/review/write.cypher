// purpose: Append reviews; one whose id is stored is not changed.
// param process_id: string - the process; it must be ready
// param rows: list - properties of each review
// column review_id: string - a review whose claim and verification are there
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
UNWIND $rows AS row
MATCH (c:Claim {process_id: $process_id, claim_id: row.claim_id})
OPTIONAL MATCH (c)<-[:VERIFIES]-(v:Verification {method: 'veritrail'})
WHERE v.verification_id = row.verification_id
WITH row, c, v
WHERE row.verification_id IS NULL OR v IS NOT NULL
MERGE (r:Review {review_id: row.review_id})
ON CREATE SET r = row
MERGE (r)-[:REVIEWS]->(c)
WITH r, v
CALL (r, v) {
  UNWIND CASE WHEN v IS NULL THEN [] ELSE [v] END AS considered
  MERGE (r)-[:CONSIDERS]->(considered)
}
RETURN r.review_id AS review_id
