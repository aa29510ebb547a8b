// purpose: Difference of two verifications of a claim: outcome, settings, interim verdicts, nodes that were read, sentences that were cited.
// param process_id: string - the process
// param claim_id: string - the claim
// param verification_id: string = null - the verification; the claim's latest succeeded one when null
// param other_verification_id: string = null - the one to compare with; the succeeded one before it when null
// param limit: integer = 1000 in 1..10000 - at most this many
// column verification_id: string - the verification
// column other_verification_id: string - the one it is compared with
// column what: string - what differs: a property (settings: all that decides the outcome, as JSON), interim verdict N, checked (the round in which a node was read), evidence (the round in which a sentence was cited)
// column node_id: string - the node, for checked and evidence
// column sentence: integer - the sentence's number in the node, for evidence
// column this: string - what the verification has; null where it has nothing
// column other: string - what the other one has
// group: Claims and verdicts
// example: process_id=harbour-summary claim_id=k04
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id, claim_id: $claim_id})
      <-[:VERIFIES]-(v:Verification {method: 'veritrail'})
WITH v ORDER BY v.created_at DESC, v.verification_id DESC
WITH collect(v) AS stored
WITH stored, head([v IN stored WHERE v.verification_id = $verification_id
       OR ($verification_id IS NULL AND v.status = 'succeeded')]) AS a
WITH a, head([v IN stored WHERE v.verification_id <> a.verification_id AND (
       v.verification_id = $other_verification_id
       OR ($other_verification_id IS NULL AND v.status = 'succeeded' AND (
         v.created_at < a.created_at
         OR (v.created_at = a.created_at AND v.verification_id < a.verification_id)
       ))
     )]) AS b
WHERE b IS NOT NULL
WITH a, b, [
       ['status', null, null, a.status, b.status],
       ['verdict', null, null, a.verdict, b.verdict],
       ['score', null, null, toString(a.score), toString(b.score)],
       ['termination', null, null, a.termination, b.termination],
       ['claim', null, null, a.claim, b.claim],
       ['q', null, null, toString(a.q), toString(b.q)],
       ['engine', null, null, a.engine, b.engine],
       ['model', null, null, a.model, b.model],
       ['settings', null, null, a.settings, b.settings],
       ['content_hash', null, null, a.content_hash, b.content_hash],
       ['error_stages', null, null,
         reduce(text = '', stage IN a.error_stages | text + ' ' + toString(stage)),
         reduce(text = '', stage IN b.error_stages | text + ' ' + toString(stage))]
     ] AS properties
WITH a, b, [row IN properties WHERE coalesce(row[3], '') <> coalesce(row[4], '')] AS properties,
     COLLECT {
       UNWIND [a, b] AS v
       MATCH (v)-[:HAS_ITERATION]->(i:Iteration)
       WITH i.number AS number, max(CASE WHEN v = a THEN i.verdict END) AS this,
            max(CASE WHEN v = b THEN i.verdict END) AS other
       WHERE coalesce(this, '') <> coalesce(other, '')
       WITH number, this, other ORDER BY number
       RETURN ['interim verdict ' + toString(number), null, null, this, other]
     } AS verdicts,
     COLLECT {
       UNWIND [a, b] AS v
       MATCH (v)-[:HAS_ITERATION]->(i:Iteration)-[:CHECKED]->(s:Span)
       WITH s, min(CASE WHEN v = a THEN i.number END) AS this,
            min(CASE WHEN v = b THEN i.number END) AS other
       WHERE coalesce(this, 0) <> coalesce(other, 0)
       WITH s, this, other ORDER BY s.stage DESC, s.position
       RETURN ['checked', s.node_id, null, toString(this), toString(other)]
     } AS checked,
     COLLECT {
       UNWIND [a, b] AS v
       MATCH (v)-[:HAS_ITERATION]->(i:Iteration)-[:FOUND]->(:Evidence)-[:CITES]->(n:Sentence)
             -[:SENTENCE_OF]->(s:Span)
       WITH s, n, min(CASE WHEN v = a THEN i.number END) AS this,
            min(CASE WHEN v = b THEN i.number END) AS other
       WHERE coalesce(this, 0) <> coalesce(other, 0)
       WITH s, n, this, other ORDER BY s.stage DESC, s.position, n.index
       RETURN ['evidence', s.node_id, n.index, toString(this), toString(other)]
     } AS cited
UNWIND properties + verdicts + checked + cited AS row
RETURN a.verification_id AS verification_id, b.verification_id AS other_verification_id,
       row[0] AS what, row[1] AS node_id, row[2] AS sentence, trim(row[3]) AS this,
       trim(row[4]) AS other
LIMIT $limit
