// purpose: Claims that rest on a single root node: all their evidence in source texts is in that node.
// param process_id: string - the process
// param verdict: string = FULLY_SUPPORTED in NOT_FULLY_SUPPORTED|FULLY_SUPPORTED|INCONCLUSIVE - only claims with this verdict, by the verification in force
// param limit: integer = 100 in 1..10000 - at most this many
// column claim_id: string - the claim
// column claim: string - its text
// column verification_id: string - the verification
// column node_id: string - the root node
// column kind: string - what it is
// column sentences: integer - how many of its sentences are cited
// column text: string - the first 200 characters of its text
// group: What rests on what
// example: process_id=harbour-summary
// source: VeriTrail 3.2 (provenance)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id})-[:IN_FORCE]->(v:Verification)
WHERE c.origin IS NULL AND v.verdict = $verdict
MATCH (v)-[:HAS_ITERATION]->(:Iteration)-[:FOUND]->(:Evidence)-[:CITES]->(n:Sentence)
      -[:SENTENCE_OF]->(s:Span)
WHERE s.role = 'root'
WITH c, v, collect(DISTINCT s) AS roots, count(DISTINCT n) AS sentences
WHERE size(roots) = 1
WITH c, v, roots[0] AS s, sentences ORDER BY c.position, c.claim_id LIMIT $limit
RETURN c.claim_id AS claim_id, c.text AS claim, v.verification_id AS verification_id,
       s.node_id AS node_id, s.kind AS kind, sentences, left(s.text, 200) AS text
ORDER BY c.position, c.claim_id
