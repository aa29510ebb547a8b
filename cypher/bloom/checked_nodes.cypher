// purpose: Bloom, "Nodes checked by verification $verification": the nodes that each iteration read.
// param verification: string - the verification
// column v: any - the verification
// column belongs: any - that the iteration belongs to it
// column i: any - an iteration
// column checked: any - that it read the node
// column s: any - the node
// source: VeriTrail C.1, Algorithm 1 line 17
MATCH (v:Verification {verification_id: $verification})-[belongs:HAS_ITERATION]->(i:Iteration)
MATCH (:Process {process_id: v.process_id, status: 'ready'})
OPTIONAL MATCH (i)-[checked:CHECKED]->(s:Span)
RETURN v, belongs, i, checked, s
ORDER BY i.number, s.stage, s.position
LIMIT 1000
