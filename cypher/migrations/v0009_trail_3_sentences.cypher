// purpose: Let the nodes of evidence trails cite their sentences, and show the first of them.
// param limit: integer - at most this many nodes
// column done: integer - how many there were
// source: VeriTrail 3.2 (provenance)
MATCH (t:TrailNode)
WHERE t.caption IS NULL AND t.verification_id IS NOT NULL AND t.node_id IS NOT NULL
WITH t LIMIT $limit
OPTIONAL MATCH (:Verification {verification_id: t.verification_id})-[:HAS_ITERATION]->(:Iteration)
      -[:FOUND]->(e:Evidence)-[cites:CITES {role: 'evidence'}]->(n:Sentence)
WHERE n.node_id = t.node_id
WITH t, n, e, cites ORDER BY e.position, cites.position
WITH t, collect(DISTINCT n) AS sentences
CALL (t, sentences) {
  UNWIND sentences AS n
  MERGE (t)-[:CITES]->(n)
}
WITH t, sentences
SET t.caption = CASE WHEN size(sentences) > 0 THEN sentences[0].caption ELSE left(t.node_id, 40) END
RETURN count(*) AS done
