// purpose: Error stages of a process as a table: how many unsupported claims went wrong at each stage, or step, kind, model or prompt.
// param process_id: string - the process
// param by: string = stage in stage|step|kind|model|prompt - what the error nodes are counted by
// param limit: integer = 100 in 1..10000 - at most this many
// column value: string - the stage, step, kind, model or prompt; null where the nodes have none
// column identified: boolean - false in the row of the claims whose error could not be placed
// column claims: integer - unsupported claims whose error came in there; a claim with several origins counts in each
// column share: float - their share of all unsupported claims
// column nodes: integer - different nodes that introduced these errors
// column overridden: integer - how many of these claims reviewers do not call unsupported, by each claim's latest review
// group: Where it went wrong
// example: process_id=harbour-summary
// source: VeriTrail 3.2 (error stages)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id})-[:IN_FORCE]->(v:Verification)
WHERE c.origin IS NULL AND v.verdict = 'NOT_FULLY_SUPPORTED'
WITH v, head(COLLECT {
       MATCH (c)<-[:REVIEWS]-(r:Review)
       RETURN r.verdict ORDER BY coalesce(r.adjudicates, false) DESC, r.created_at DESC, r.review_id DESC LIMIT 1
     }) IN ['FULLY_SUPPORTED', 'INCONCLUSIVE'] AS is_overridden
WITH collect([v, is_overridden]) AS unsupported, count(v) AS total
UNWIND unsupported AS each
WITH total, each[0] AS v, each[1] AS is_overridden
OPTIONAL MATCH (v)-[:ERROR_INTRODUCED_AT]->(s:Span)
WITH total, v, is_overridden, s, s IS NOT NULL AS identified,
     CASE $by
       WHEN 'stage' THEN toString(s.stage)
       WHEN 'step' THEN s.step
       WHEN 'kind' THEN s.kind
       WHEN 'model' THEN s.model
       ELSE s.prompt
     END AS value
WITH total, identified, value, min(s.stage) AS stage, count(DISTINCT v) AS claims,
     count(DISTINCT s) AS nodes, count(DISTINCT CASE WHEN is_overridden THEN v END) AS overridden
RETURN value, identified, claims, toFloat(claims) / total AS share, nodes, overridden
ORDER BY identified DESC, CASE $by WHEN 'stage' THEN stage ELSE -claims END, coalesce(value, '')
LIMIT $limit
