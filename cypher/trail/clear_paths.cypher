// purpose: Take back the evidence paths of a verification that is written again.
// param verification_id: string - the verification
// source: ours
MATCH (:Verification {verification_id: $verification_id})-[:HAS_ITERATION]->(:Iteration)
      -[:FOUND]->(:Evidence)-[:CITES]->(:Sentence)-[:SENTENCE_OF]->(s:Span)
WITH DISTINCT s
MATCH (s)-[path:EVIDENCE_FOR {verification_id: $verification_id}]->(:Span)
DELETE path
