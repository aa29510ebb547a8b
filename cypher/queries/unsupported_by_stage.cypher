// purpose: Unsupported claims of a process by error stage, by each claim's verification in force.
// param process_id: string - the process
// param stage: integer = null in 0..2147483647 - only the claims whose error came in here
// param limit: integer = 100 in 1..10000 - at most this many
// column stage: integer - the error stage; null where none could be identified
// column claim_id: string - the claim; one row for each of its error stages
// column claim: string - its text
// column node_id: string - the node that states it
// column verification_id: string - the verification
// column error_nodes: list - node_ids of the nodes of this stage that introduced the error
// column indicative: boolean - whether no model judged, so that the verdict is indicative only
// column review: string - what the claim's latest review is to this verdict: confirmed, overridden or unclear; null without one
// column reviewed_verdict: string - the verdict of that review; null where it calls the claim unclear
// group: Where it went wrong
// example: process_id=harbour-summary
// source: VeriTrail 3.2 (error stages)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id})-[:IN_FORCE]->(v:Verification)
WHERE c.origin IS NULL AND v.verdict = 'NOT_FULLY_SUPPORTED'
UNWIND CASE WHEN size(v.error_stages) = 0 THEN [null] ELSE v.error_stages END AS stage
WITH c, v, stage
WHERE $stage IS NULL OR stage = $stage
WITH c, v, stage ORDER BY coalesce(stage, 2147483648), c.position, c.claim_id LIMIT $limit
WITH c, v, stage, head(COLLECT {
       MATCH (c)<-[:REVIEWS]-(r:Review)
       RETURN r ORDER BY coalesce(r.adjudicates, false) DESC, r.created_at DESC, r.review_id DESC LIMIT 1
     }) AS r
RETURN stage, c.claim_id AS claim_id, c.text AS claim, c.node_id AS node_id,
       v.verification_id AS verification_id,
       COLLECT {
         MATCH (v)-[:ERROR_INTRODUCED_AT]->(s:Span)
         WHERE s.stage = stage
         WITH s.node_id AS node_id, s.position AS position ORDER BY position
         RETURN node_id
       } AS error_nodes,
       v.indicative AS indicative,
       CASE
         WHEN r.verdict = 'UNCLEAR' THEN 'unclear'
         WHEN r.verdict = v.verdict THEN 'confirmed'
         WHEN r.verdict IS NOT NULL THEN 'overridden'
       END AS review,
       CASE WHEN r.verdict <> 'UNCLEAR' THEN r.verdict END AS reviewed_verdict
ORDER BY coalesce(stage, 2147483648), c.position, c.claim_id
