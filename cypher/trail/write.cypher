// purpose: Write verifications with their trails; what was written before gets its properties alone.
// param process_id: string - the process; it must be ready
// param content_hash: string - the content that was verified, or null where it is not known
// param cleared: boolean - whether the trails of those that were written before have been cleared
// param rows: list - {claim_id, verification_id, properties, iterations, paths, steps, …}
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
  UNWIND CASE WHEN existed THEN [] ELSE row.iterations END AS turn
  CREATE (v)-[:HAS_ITERATION]->(i:Iteration)
  SET i = turn.properties
  WITH i, turn
  CALL (i, turn) {
    UNWIND turn.checked AS node_id
    MATCH (s:Span)
    WHERE s.process_id = $process_id AND s.node_id = node_id
    CREATE (i)-[:CHECKED]->(s)
  }
  CALL (i, turn) {
    UNWIND turn.evidence AS found
    CREATE (i)-[:FOUND]->(e:Evidence)
    SET e = found.properties
    WITH e, found
    UNWIND found.sentences AS cited
    MERGE (n:Sentence {
      process_id: $process_id, node_id: cited[0], index: cited[1], start: cited[2], end: cited[3]
    })
    ON CREATE SET n.text = cited[4], n.caption = cited[5]
    CREATE (e)-[:CITES {role: cited[6], position: cited[7]}]->(n)
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
  UNWIND CASE WHEN existed THEN [] ELSE row.paths END AS target
  MATCH (b:Span)
  WHERE b.process_id = $process_id AND b.node_id = target[0]
  UNWIND target[1] AS path
  MATCH (a:Span)
  WHERE a.process_id = $process_id AND a.node_id = path[0]
  CREATE (a)-[:EVIDENCE_FOR {
    verification_id: v.verification_id, iteration: path[1], via: path[2]
  }]->(b)
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
