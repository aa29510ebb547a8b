// purpose: Error stages of a process as a table: how many unsupported claims went wrong at each stage, or step, kind, model or prompt.
// param process_id: string - the process
// param by: string = stage in stage|step|kind|model|prompt - what the error nodes are counted by
// param limit: integer = 100 in 1..10000 - at most this many
// column value: string - the stage, step, kind, model or prompt; null where the nodes have none
// column identified: boolean - false in the row of the claims whose error could not be placed
// column claims: integer - unsupported claims whose error came in there, or may have: one with several possible places is in the row of each
// column share: float - `counted` as a share of all unsupported claims; the shares of all rows add up to 1
// column nodes: integer - different nodes that introduced these errors
// column overridden: integer - how many of these claims reviewers do not call unsupported, by each claim's latest review
// column counted: float - these claims, each counted once over all rows: one with k possible places as 1/k in each
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
WITH total, v, is_overridden, identified, value, min(s.stage) AS stage,
     collect(DISTINCT s.node_id) AS names
WITH total, v, is_overridden, collect([identified, value, stage, names]) AS places
UNWIND places AS place
WITH total, v, is_overridden, size(places) AS among, place[0] AS identified, place[1] AS value,
     place[2] AS stage, CASE WHEN size(place[3]) = 0 THEN [null] ELSE place[3] END AS names
UNWIND names AS name
WITH total, identified, value, min(stage) AS stage, count(DISTINCT v) AS claims,
     count(DISTINCT name) AS nodes, count(DISTINCT CASE WHEN is_overridden THEN v END) AS overridden,
     sum(1.0 / (among * size(names))) AS counted
RETURN value, identified, claims, counted / total AS share, nodes, overridden, counted
ORDER BY identified DESC, CASE $by WHEN 'stage' THEN stage ELSE -claims END, coalesce(value, '')
LIMIT $limit
