// purpose: Candidate nodes of an iteration: the source nodes that it could have read, which of them it read, and why not the others.
// param process_id: string - the process
// param claim_id: string - the claim
// param iteration: integer = 2 in 1..10001 - the iteration, counted from 1; the one after the last: what was left when the walk ended
// param verification_id: string = null - the verification; the claim's one in force when null
// param limit: integer = 1000 in 1..10000 - at most this many rows
// column verification_id: string - the verification
// column iteration: integer - the iteration
// column node_id: string - a source node of what the iteration before read, or of the verified node
// column stage: integer - its stage
// column node_role: string - root, intermediate, terminal or unsourced
// column is_candidate: boolean - whether it was a candidate
// column is_read: boolean - whether the iteration read it
// column why: string - why it was a candidate, or was not
// column inputs_of: list - nodes of the iteration before, or the verified node, that it was an input to
// group: Where a claim comes from
// example: process_id=harbour-summary claim_id=k01
// source: VeriTrail 3.1.4 (candidate nodes), C.1 Algorithm 1 lines 6, 20, 23, 25
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id, claim_id: $claim_id})
      <-[:VERIFIES]-(v:Verification {method: 'veritrail'})
WHERE v.verification_id = $verification_id
   OR ($verification_id IS NULL AND EXISTS { (c)-[:IN_FORCE]->(v) })
WITH v LIMIT 1
OPTIONAL MATCH (v)-[:HAS_ITERATION]->(before:Iteration {number: $iteration - 1})
WITH v, before, CASE
       WHEN $iteration = 1 THEN [[v.node_id, true]]
       ELSE COLLECT {
         MATCH (before)-[:CHECKED]->(s:Span)
         RETURN [s.node_id, before.verdict = 'NOT_FULLY_SUPPORTED' OR EXISTS {
           MATCH (before)-[:FOUND]->(:Evidence)-[:CITES]->(n:Sentence)
           WHERE n.process_id = s.process_id AND n.node_id = s.node_id
         }]
       }
     END AS targets
UNWIND targets AS target
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = target[0]
MATCH (s)<-[:INPUT_TO]-(u:Span)
WITH v, before, s, u, target[1] AS is_asked ORDER BY s.stage, s.position
WITH v, before, u, collect(s.node_id) AS inputs_of, collect(is_asked) AS asked
WITH v, before, u, inputs_of, asked, head(COLLECT {
       MATCH (v)-[:HAS_ITERATION]->(i:Iteration)-[:CHECKED]->(u)
       RETURN i.number ORDER BY i.number LIMIT 1
     }) AS read_in
WITH v, before, u, inputs_of, read_in, true IN asked AS is_asked,
     read_in IS NOT NULL AND read_in < $iteration AS is_checked
RETURN v.verification_id AS verification_id, $iteration AS iteration, u.node_id AS node_id,
       u.stage AS stage, u.role AS node_role, is_asked AND NOT is_checked AS is_candidate,
       read_in IS NOT NULL AND read_in = $iteration AS is_read,
       CASE
         WHEN is_checked THEN 'read in iteration ' + toString(read_in)
         WHEN NOT is_asked THEN 'no node that it was an input to had evidence'
         WHEN $iteration = 1 THEN 'source of the verified node'
         WHEN before.verdict = 'NOT_FULLY_SUPPORTED' THEN 'source of a node that was read'
         ELSE 'source of a node with evidence'
       END + CASE
         WHEN is_asked AND NOT is_checked AND read_in IS NULL THEN '; the walk ended before'
         ELSE ''
       END AS why,
       inputs_of
ORDER BY u.stage, u.position
LIMIT $limit
