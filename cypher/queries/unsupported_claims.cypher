// purpose: Claims of a process that are not fully supported, by each claim's verification in force.
// param process_id: string - the process
// param limit: integer = 100 in 1..10000 - at most this many
// column claim_id: string - the claim
// column claim: string - its text
// column node_id: string - the node that states it
// column verification_id: string - the verification
// column error_stages: list - the stages where the error came in; empty when none could be identified
// column error_nodes: list - node_ids of the nodes that introduced it
// column reasoning: string - the reasons for the verdict
// column engine: string - the engine of judgement
// column indicative: boolean - whether no model judged, so that the verdict is indicative only
// column review: string - what the claim's latest review is to this verdict: confirmed, overridden or unclear; null without one
// column reviewed_verdict: string - the verdict of that review; null where it calls the claim unclear
// group: Claims and verdicts
// example: process_id=harbour-summary
// source: VeriTrail 3.2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id})-[:IN_FORCE]->(v:Verification)
WHERE c.origin IS NULL AND v.verdict = 'NOT_FULLY_SUPPORTED'
WITH c, v ORDER BY c.position, c.claim_id LIMIT $limit
WITH c, v, head(COLLECT {
       MATCH (c)<-[:REVIEWS]-(r:Review)
       RETURN r ORDER BY coalesce(r.adjudicates, false) DESC, r.created_at DESC, r.review_id DESC LIMIT 1
     }) AS r
RETURN c.claim_id AS claim_id, c.text AS claim, c.node_id AS node_id,
       v.verification_id AS verification_id, v.error_stages AS error_stages,
       COLLECT {
         MATCH (v)-[:ERROR_INTRODUCED_AT]->(s:Span)
         RETURN s.node_id ORDER BY s.stage, s.position
       } AS error_nodes,
       v.reasoning AS reasoning, v.engine AS engine, v.indicative AS indicative,
       CASE
         WHEN r.verdict = 'UNCLEAR' THEN 'unclear'
         WHEN r.verdict = v.verdict THEN 'confirmed'
         WHEN r.verdict IS NOT NULL THEN 'overridden'
       END AS review,
       CASE WHEN r.verdict <> 'UNCLEAR' THEN r.verdict END AS reviewed_verdict
ORDER BY c.position, c.claim_id
