// purpose: Check for verifications of a process whose trail is incomplete or does not match the process.
// param process_id: string - the process
// param limit: integer = 100 in 1..10000 - at most this many
// column verification_id: string - the verification
// column problem: string - what is wrong
// column detail: string - where
// group: Integrity: no rows on a sound graph
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (v:Verification {process_id: $process_id, method: 'veritrail'})
WITH v, CASE
       WHEN NOT EXISTS { MATCH (v)-[:VERIFIES]->(c:Claim) WHERE c.process_id = v.process_id
                           AND c.claim_id = v.claim_id } THEN ['does not verify its claim', v.claim_id]
       WHEN (v.status = 'succeeded') <> (v.verdict IS NOT NULL)
         THEN ['has a verdict and did not succeed, or the other way round', v.status]
       WHEN COUNT { (v)-[:ERROR_INTRODUCED_AT|ERROR_OFFERED_AT]->() } > 0
            AND v.verdict <> 'NOT_FULLY_SUPPORTED'
         THEN ['has an error and is supported', v.verdict]
       WHEN EXISTS { MATCH (v)-[:ERROR_INTRODUCED_AT]->(s:Span)
                     WHERE s.process_id <> v.process_id OR NOT s.stage IN v.error_stages }
         THEN ['has an error in a node of another process or stage', null]
     END AS wrong
WITH v, CASE WHEN wrong IS NULL THEN [] ELSE [wrong] END + COLLECT {
       MATCH (v)-[:HAS_ITERATION]->(i:Iteration)
       WHERE i.number > COUNT { (v)-[:HAS_ITERATION]->() }
       RETURN ['lacks an iteration before', 'iteration ' + toString(i.number)]
     } + COLLECT {
       MATCH (v)-[:HAS_ITERATION]->(i:Iteration)
       WHERE i.checked_count <> COUNT { (i)-[:CHECKED]->() }
       RETURN ['did not check as many nodes as it says', 'iteration ' + toString(i.number)]
     } + COLLECT {
       MATCH (v)-[:HAS_ITERATION]->(i:Iteration)
       WHERE i.evidence_count <> COUNT { (i)-[:FOUND]->(:Evidence)-[:CITES]->() }
       RETURN ['does not cite as many sentences as it says', 'iteration ' + toString(i.number)]
     } + COLLECT {
       MATCH (v)-[:HAS_ITERATION]->(i:Iteration)-[:FOUND]->(:Evidence)-[:CITES]->(n:Sentence)
             -[:SENTENCE_OF]->(s:Span)
       WHERE s.process_id <> v.process_id OR s.node_id <> n.node_id
       RETURN ['cites a sentence of another process or node', 'iteration ' + toString(i.number)]
     } AS rows
UNWIND rows AS row
RETURN v.verification_id AS verification_id, row[0] AS problem, row[1] AS detail
ORDER BY verification_id, problem, detail
LIMIT $limit
