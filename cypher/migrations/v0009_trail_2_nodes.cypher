// purpose: Turn links between spans into paths of nodes, one trail a verification.
// param limit: integer - at most this many links
// column done: integer - how many were replaced
// source: VeriTrail 3.2 (provenance)
MATCH (a:Span)-[old:EVIDENCE_FOR]->(b:Span)
// Those of another application lack our keys.
WHERE old.verification_id IS NOT NULL AND a.process_id IS NOT NULL AND b.process_id IS NOT NULL
WITH a, old, b LIMIT $limit
WITH a, b, old, old.verification_id AS verification_id, old.iteration AS iteration,
     coalesce(old.via, []) AS via
DELETE old
WITH a, b, verification_id, iteration, via
CALL (a, b, verification_id, iteration, via) {
  MATCH (v:Verification {verification_id: verification_id})
  MERGE (t:TrailNode {verification_id: verification_id, node_id: a.node_id})
  SET t.process_id = a.process_id, t.claim_id = v.claim_id, t.stage = a.stage, t.role = a.role,
      t.position = a.position, t.iteration = iteration
  MERGE (t)-[:AT]->(a)
  WITH v, t, b, via, b.node_id = v.node_id AS is_last
  CALL (v, t, via, is_last) {
    WITH v, t, via, is_last
    WHERE is_last
    CREATE (t)-[:LEADS_TO {via: via}]->(v)
  }
  CALL (v, t, b, via, is_last) {
    WITH v, t, b, via, is_last
    WHERE NOT is_last
    MERGE (u:TrailNode {verification_id: v.verification_id, node_id: b.node_id})
    SET u.process_id = b.process_id, u.claim_id = v.claim_id, u.stage = b.stage, u.role = b.role,
        u.position = b.position
    MERGE (u)-[:AT]->(b)
    CREATE (t)-[:LEADS_TO {via: via}]->(u)
  }
}
RETURN count(*) AS done
