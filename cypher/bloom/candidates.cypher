// purpose: Bloom, "Candidates of verification $verification": what each iteration read and found evidence in, and the source nodes of it.
// param verification: string - the verification
// column v: any - the verification
// column belongs: any - that the iteration belongs to it
// column i: any - an iteration
// column checked: any - that it read the node
// column s: any - the node
// column input: any - that the source node was an input to it
// column u: any - a source node: a candidate of the next iteration, unless it was read before, or the verdict was another than Not Fully Supported and the node had no evidence
// column found: any - that the iteration found evidence
// column e: any - evidence
// column cites: any - that it cites the sentence
// column n: any - a sentence of the node
// column of: any - that the sentence is one of the node
// source: VeriTrail 3.1.4 (candidate nodes), C.1 Algorithm 1 lines 20, 23, 25
MATCH (v:Verification {verification_id: $verification})-[belongs:HAS_ITERATION]->(i:Iteration)
MATCH (:Process {process_id: v.process_id, status: 'ready'})
OPTIONAL MATCH (i)-[checked:CHECKED]->(s:Span)
OPTIONAL MATCH (s)<-[input:INPUT_TO]-(u:Span)
OPTIONAL MATCH (i)-[found:FOUND]->(e:Evidence)-[cites:CITES]->(n:Sentence)-[of:SENTENCE_OF]->(s)
RETURN v, belongs, i, checked, s, input, u, found, e, cites, n, of
ORDER BY i.number, s.stage, s.position, u.stage, u.position
LIMIT 1000
