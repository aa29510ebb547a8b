// purpose: Nodes of the evidence trails of verifications as they are stored, with what they cite.
// param verification_ids: list - the verifications
// column properties: map - properties of the node of the trail
// column cited: list - [node_id, index, start, end, says] of each sentence
// source: VeriTrail 3.2 (provenance)
UNWIND $verification_ids AS verification_id
MATCH (t:TrailNode)
WHERE t.verification_id = verification_id AND t.node_id >= ''
OPTIONAL MATCH (t)-[c:CITES]->(n:Sentence)
WITH t, collect(
  CASE WHEN n IS NULL THEN null ELSE [n.node_id, n.index, n.start, n.end, c.says] END
) AS cited
RETURN properties(t) AS properties, cited
ORDER BY t.verification_id, t.iteration, t.stage, t.position, t.node_id
