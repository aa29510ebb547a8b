// purpose: Evidence paths of verifications as they are stored.
// param verification_ids: list - the verifications
// column source: string - node_id of the node with evidence
// column target: string - node_id of what it was an input to
// column properties: map - properties of the link
// source: VeriTrail 3.2 (provenance)
UNWIND $verification_ids AS verification_id
MATCH (:Verification {verification_id: verification_id})-[:HAS_ITERATION]->(:Iteration)
      -[:FOUND]->(:Evidence)-[:CITES]->(:Sentence)-[:SENTENCE_OF]->(u:Span)
WITH DISTINCT verification_id, u
MATCH (u)-[path:EVIDENCE_FOR {verification_id: verification_id}]->(w:Span)
RETURN u.node_id AS source, w.node_id AS target, properties(path) AS properties
ORDER BY verification_id, path.iteration, u.position, w.position
