// purpose: Evidence trail of a claim: round by round, the sentences that were selected and the interim verdict.
// param process_id: string - the process
// param claim_id: string - the claim
// param verification_id: string = null - the verification; the claim's one in force when null
// param limit: integer = 1000 in 1..10000 - at most this many rows
// column verification_id: string - the verification
// column iteration: integer - the round, counted from 1
// column interim_verdict: string - its verdict, as it was given; null: the judge could not tell, or samples did not agree
// column node_id: string - a node with evidence; null when the round selected nothing
// column stage: integer - the stage of the node
// column sentence: integer - the sentence's number in the node, counted from 0
// column role: string - evidence, or context that evidence needs
// column text: string - the sentence
// column summary: string - what the sentences of its prompt say together
// column missing: string - what they do not say
// group: Where a claim comes from
// example: process_id=harbour-summary claim_id=k01
// source: VeriTrail 3.2 (evidence trail, all interim verdicts)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id, claim_id: $claim_id})
      <-[:VERIFIES]-(v:Verification {method: 'veritrail'})
WHERE v.verification_id = $verification_id
   OR ($verification_id IS NULL AND EXISTS { (c)-[:IN_FORCE]->(v) })
WITH v LIMIT 1
MATCH (v)-[:HAS_ITERATION]->(i:Iteration)
OPTIONAL MATCH (i)-[:FOUND]->(e:Evidence)-[cites:CITES]->(n:Sentence)-[:SENTENCE_OF]->(s:Span)
RETURN v.verification_id AS verification_id, i.number AS iteration, i.verdict AS interim_verdict,
       s.node_id AS node_id, s.stage AS stage, n.index AS sentence, cites.role AS role,
       n.text AS text, e.summary AS summary, e.missing AS missing
ORDER BY i.number, e.position, cites.position
LIMIT $limit
