// purpose: Rounds of verifications with their nodes with evidence; those without are only counted.
// param verification_ids: list - the verifications
// column properties: map - properties of the iteration
// column nodes: list - [node_id, stage, position, role] of each node with evidence
// source: VeriTrail 3.2 (all interim verdicts)
UNWIND $verification_ids AS verification_id
MATCH (v:Verification {verification_id: verification_id})-[:HAS_ITERATION]->(i:Iteration)
OPTIONAL MATCH (i)-[:FOUND]->(:Evidence)-[:CITES]->(:Sentence)-[:SENTENCE_OF]->(s:Span)
WITH DISTINCT i, s
WITH i, collect([s.node_id, s.stage, s.position, s.role]) AS nodes
RETURN properties(i) AS properties, nodes
ORDER BY i.verification_id, i.number
