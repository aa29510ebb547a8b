// purpose: Evidence paths of verifications.
// param verification_ids: list - the verifications
// column verification_id: string - the verification
// column source: string - node_id of the node with evidence
// column target: string - node_id of what it was an input to
// column iteration: integer - the iteration that found the evidence
// column via: list - node_ids of checked nodes without evidence between the two
// source: VeriTrail 3.2 (provenance)
UNWIND $verification_ids AS verification_id
MATCH (:Verification {verification_id: verification_id})-[:HAS_ITERATION]->(:Iteration)
      -[:FOUND]->(:Evidence)-[:CITES]->(:Sentence)-[:SENTENCE_OF]->(u:Span)
WITH DISTINCT verification_id, u
MATCH (u)-[path:EVIDENCE_FOR {verification_id: verification_id}]->(w:Span)
RETURN verification_id, u.node_id AS source, w.node_id AS target, path.iteration AS iteration,
       path.via AS via
ORDER BY verification_id, iteration, u.stage, u.position, source, target
