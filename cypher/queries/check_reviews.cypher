// purpose: Check for reviews of a process that do not match their claim or verification.
// param process_id: string - the process
// param limit: integer = 100 in 1..10000 - at most this many
// column review_id: string - the review
// column problem: string - what is wrong
// group: Integrity: no rows on a sound graph
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (r:Review {process_id: $process_id})
WITH r, COLLECT { MATCH (r)-[:REVIEWS]->(c:Claim) RETURN c } AS claims,
     COLLECT { MATCH (r)-[:CONSIDERS]->(v:Verification) RETURN v } AS considered
WITH r, CASE
       WHEN size(claims) = 0 THEN 'reviews no claim'
       WHEN size(claims) > 1 THEN 'reviews several claims'
       WHEN claims[0].process_id <> r.process_id OR claims[0].claim_id <> r.claim_id
         THEN 'reviews another claim than it says'
       WHEN size(considered) > 1 THEN 'is about several verifications'
       WHEN size(considered) = 0 AND r.verification_id IS NOT NULL
         THEN 'is about a verification that is not there'
       WHEN size(considered) = 1 AND considered[0].verification_id <> coalesce(r.verification_id, '')
         THEN 'is about another verification than it says'
       WHEN size(considered) = 1 AND considered[0].claim_id <> r.claim_id
         THEN 'is about a verification of another claim'
       WHEN size(considered) = 1 AND coalesce(considered[0].verdict, '') <> coalesce(r.model_verdict, '')
         THEN 'is about a verdict that the verification does not have'
       WHEN r.kind <> CASE
              WHEN r.verdict = 'UNCLEAR' THEN 'unclear'
              WHEN r.verdict = coalesce(r.model_verdict, '') THEN 'confirmed'
              ELSE 'overridden'
            END THEN 'does not do what its verdict does'
     END AS problem
WHERE problem IS NOT NULL
RETURN r.review_id AS review_id, problem
ORDER BY review_id
LIMIT $limit
