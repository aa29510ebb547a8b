// purpose: Evidence of verifications as stored, with what it cites.
// param verification_ids: list - the verifications
// column verification_id: string - the verification
// column number: integer - the iteration
// column properties: map - properties of the evidence
// column cited: list - [node_id, index, start, end, role, position, says, part, sides]
// source: VeriTrail 3.1.2
UNWIND $verification_ids AS verification_id
MATCH (v:Verification {verification_id: verification_id})-[:HAS_ITERATION]->(i:Iteration)
      -[:FOUND]->(e:Evidence)
OPTIONAL MATCH (e)-[c:CITES]->(n:Sentence)
WITH i, e, collect([
  n.node_id, n.index, n.start, n.end, c.role, c.position, c.says, c.part, c.sides
]) AS cited
RETURN i.verification_id AS verification_id, i.number AS number, properties(e) AS properties,
       cited
ORDER BY i.verification_id, i.number, e.position
