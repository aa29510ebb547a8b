// purpose: Nodes that a verification cites, with how many of their sentences.
// param verification_id: string - the verification
// column node_id: string - the node
// column sentences: integer - how many different sentences of it
// source: VeriTrail 3.2 (evidence trail)
MATCH (:Verification {verification_id: $verification_id})-[:HAS_ITERATION]->(:Iteration)
      -[:FOUND]->(:Evidence)-[:CITES]->(n:Sentence)
RETURN n.node_id AS node_id, count(DISTINCT n) AS sentences
ORDER BY node_id
