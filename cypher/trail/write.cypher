// purpose: Write verifications with their trails; what was written before gets its properties alone.
// param process_id: string - the process; it must be ready
// param content_hash: string - the content that was verified, or null where it is not known
// param cleared: boolean - whether the trails of those that were written before have been cleared
// param rows: list - {claim_id, verification_id, properties, trail, links, iterations, …}
// column verification_id: string - a verification whose claim is there
// column existed: boolean - whether its trail was left out, because an older one must be cleared
// source: VeriTrail 3.2 (evidence trail, provenance, error localization), C.1 Algorithm 1
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready' AND ($content_hash IS NULL OR p.content_hash = $content_hash)
UNWIND $rows AS row
MATCH (c:Claim {process_id: $process_id, claim_id: row.claim_id})
MERGE (v:Verification {verification_id: row.verification_id})
WITH v, c, row, coalesce(row.properties.place, v.place) AS place,
     NOT $cleared AND coalesce(v.status, 'queued') <> 'queued' AS existed
SET v = row.properties, v.place = place
MERGE (v)-[:VERIFIES]->(c)
WITH v, row, existed
CALL (v, row, existed) {
  UNWIND CASE WHEN existed THEN [] ELSE row.trail END AS place
  MATCH (s:Span)
  WHERE s.process_id = $process_id AND s.node_id = place[0]
  CREATE (:TrailNode {
    verification_id: row.verification_id, node_id: place[0], process_id: $process_id,
    claim_id: row.claim_id, stage: s.stage, role: s.role, position: s.position,
    iteration: place[1], caption: place[2]
  })-[:AT]->(s)
}
CALL (v, row, existed) {
  UNWIND CASE WHEN existed THEN [] ELSE row.iterations END AS turn
  CREATE (v)-[:HAS_ITERATION]->(i:Iteration)
  SET i = turn.properties
  WITH i, turn, row
  CALL (i, turn) {
    UNWIND turn.checked AS node_id
    MATCH (s:Span)
    WHERE s.process_id = $process_id AND s.node_id = node_id
    CREATE (i)-[:CHECKED]->(s)
  }
  CALL (i, turn, row) {
    UNWIND turn.evidence AS found
    CREATE (i)-[:FOUND]->(e:Evidence)
    SET e = found.properties
    WITH e, found, row
    UNWIND found.sentences AS cited
    MERGE (n:Sentence {
      process_id: $process_id, node_id: cited[0], index: cited[1], start: cited[2], end: cited[3]
    })
    ON CREATE SET n.text = cited[4], n.caption = cited[5]
    CREATE (e)-[:CITES {
      role: cited[6], position: cited[7], says: cited[8], part: cited[9], sides: cited[10]
    }]->(n)
    WITH n, cited, row
    CALL (n, cited, row) {
      WITH n, cited, row
      WHERE cited[12]
      MATCH (t:TrailNode)
      WHERE t.verification_id = row.verification_id AND t.node_id = cited[0]
      CREATE (t)-[:CITES {says: cited[11]}]->(n)
    }
    WITH n, cited
    WHERE NOT EXISTS { (n)-[:SENTENCE_OF]->(:Span) }
    CALL (n, cited) {  // a single sentence: else the node's text is held once a row
      MATCH (s:Span)
      WHERE s.process_id = $process_id AND s.node_id = cited[0]
      MERGE (n)-[:SENTENCE_OF]->(s)
    }
  }
}
CALL (v, row, existed) {
  UNWIND CASE WHEN existed THEN [] ELSE row.links END AS target
  MATCH (b:TrailNode)
  WHERE b.verification_id = row.verification_id AND b.node_id = target[0]
  UNWIND target[1] AS link
  MATCH (a:TrailNode)
  WHERE a.verification_id = row.verification_id AND a.node_id = link[0]
  CREATE (a)-[:LEADS_TO {via: link[1]}]->(b)
}
CALL (v, row, existed) {
  UNWIND CASE WHEN existed THEN [] ELSE row.ends END AS link
  MATCH (a:TrailNode)
  WHERE a.verification_id = row.verification_id AND a.node_id = link[0]
  CREATE (a)-[:LEADS_TO {via: link[1]}]->(v)
}
CALL (v, row, existed) {
  UNWIND CASE WHEN existed THEN [] ELSE row.steps END AS step
  CREATE (v)-[:TOOK]->(s:Step)
  SET s = step
}
CALL (v, row, existed) {
  UNWIND CASE WHEN existed THEN [] ELSE row.introduced END AS error
  MATCH (s:Span)
  WHERE s.process_id = $process_id AND s.node_id = error[0]
  CREATE (v)-[introduced:ERROR_INTRODUCED_AT]->(s)
  SET introduced = error[1], introduced.stage = s.stage
}
CALL (v, row, existed) {
  UNWIND CASE WHEN existed THEN [] ELSE row.offered END AS error
  MATCH (s:Span)
  WHERE s.process_id = $process_id AND s.node_id = error[0]
  CREATE (v)-[offered:ERROR_OFFERED_AT]->(s)
  SET offered = error[1], offered.stage = s.stage
}
CALL (v, row, existed) {
  UNWIND CASE WHEN existed THEN [] ELSE row.propagated END AS node_id
  MATCH (s:Span)
  WHERE s.process_id = $process_id AND s.node_id = node_id
  CREATE (v)-[:ERROR_PROPAGATED_THROUGH]->(s)
}
RETURN v.verification_id AS verification_id, existed
