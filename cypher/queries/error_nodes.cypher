// purpose: Nodes that introduced most errors, by each claim's verification in force.
// param process_id: string - the process
// param limit: integer = 100 in 1..10000 - at most this many
// column node_id: string - the node
// column stage: integer - its stage
// column kind: string - what it is
// column step: string - the step that produced it
// column model: string - the model that produced it
// column prompt: string - the prompt that produced it
// column claims: integer - how many claims it brought unsupported content into
// column claim_ids: list - these claims
// column overridden: integer - how many of these claims reviewers do not call unsupported, by each claim's latest review
// column text: string - the first 200 characters of its text
// group: Where it went wrong
// example: process_id=harbour-summary
// source: VeriTrail 3.2 (error localization)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id})-[:IN_FORCE]->(v:Verification)
WHERE c.origin IS NULL AND v.verdict = 'NOT_FULLY_SUPPORTED'
WITH c, v, head(COLLECT {
       MATCH (c)<-[:REVIEWS]-(r:Review)
       RETURN r.verdict ORDER BY coalesce(r.adjudicates, false) DESC, r.created_at DESC, r.review_id DESC LIMIT 1
     }) IN ['FULLY_SUPPORTED', 'INCONCLUSIVE'] AS is_overridden
MATCH (v)-[:ERROR_INTRODUCED_AT]->(s:Span)
WITH s, c, is_overridden ORDER BY c.position, c.claim_id
WITH s, collect(c.claim_id) AS claim_ids, count(CASE WHEN is_overridden THEN 1 END) AS overridden
ORDER BY size(claim_ids) DESC, s.stage, s.position LIMIT $limit
RETURN s.node_id AS node_id, s.stage AS stage, s.kind AS kind, s.step AS step, s.model AS model,
       s.prompt AS prompt, size(claim_ids) AS claims, claim_ids, overridden,
       left(s.text, 200) AS text
ORDER BY claims DESC, s.stage, s.position
