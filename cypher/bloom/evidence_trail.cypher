// purpose: Bloom, "Evidence trail of verification $verification": round by round, what was selected.
// param verification: string - the verification
// column c: any - the claim
// column verifies: any - that the verification verifies it
// column v: any - the verification
// column belongs: any - that the iteration belongs to it
// column i: any - an iteration
// column found: any - what it found
// column e: any - the evidence
// column cites: any - that the evidence cites the sentence
// column n: any - a sentence
// column within: any - that the sentence is in the node
// column s: any - the node
// source: VeriTrail 3.2 (evidence trail)
MATCH (v:Verification {verification_id: $verification})-[verifies:VERIFIES]->(c:Claim)
MATCH (:Process {process_id: v.process_id, status: 'ready'})
OPTIONAL MATCH (v)-[belongs:HAS_ITERATION]->(i:Iteration)
OPTIONAL MATCH (i)-[found:FOUND]->(e:Evidence)-[cites:CITES]->(n:Sentence)
               -[within:SENTENCE_OF]->(s:Span)
RETURN c, verifies, v, belongs, i, found, e, cites, n, within, s
ORDER BY i.number, e.position, cites.position
LIMIT 1000
