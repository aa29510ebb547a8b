// purpose: Evidence of verifications with the sentences that it cites.
// param verification_ids: list - the verifications
// column verification_id: string - the verification
// column number: integer - the iteration
// column properties: map - properties of the evidence
// column sentences: list - [position, role, node_id, index, start, end, text, says, part, sides]
// source: VeriTrail 3.2 (evidence trail)
UNWIND $verification_ids AS verification_id
MATCH (v:Verification {verification_id: verification_id})-[:HAS_ITERATION]->(i:Iteration)
      -[:FOUND]->(e:Evidence)-[c:CITES]->(n:Sentence)
WITH i, e, collect([
  c.position, c.role, n.node_id, n.index, n.start, n.end, n.text, c.says, c.part, c.sides
]) AS sentences
RETURN i.verification_id AS verification_id, i.number AS number, properties(e) AS properties,
       sentences
ORDER BY i.verification_id, i.number, e.position
