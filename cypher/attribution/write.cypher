// purpose: Write what sentences of some nodes are attributed to, and what is known of them.
// param process_id: string - the process; it must be ready
// param content_hash: string - the content that was attributed
// param run: string - the run
// param engine: string - the engine
// param indicative: boolean - whether no model was asked; then what a model said stays in force
// param known: map - {attribution_engine, attribution_model, attributed_against, attributed_at}, kept with each sentence for which the run counts
// param rows: list - {node_id, index, start, end, text, caption, labels, attributed, revisions}; labels: {implied_label, judged_label, judged_reason, correction, corrected_label, dropped_ids, propositions, proposition_spans, proposition_labels}
// column done: integer - how many sentences were written
// source: Error-tolerant attribution 3
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready' AND p.content_hash = $content_hash
UNWIND $rows AS row
CALL (row) {
  MATCH (s:Span)
  WHERE s.process_id = $process_id AND s.node_id = row.node_id
  MERGE (n:Sentence {
    process_id: $process_id, node_id: row.node_id, index: row.index, start: row.start,
    end: row.end
  })
  ON CREATE SET n.text = row.text, n.caption = row.caption
  MERGE (n)-[:SENTENCE_OF]->(s)
  WITH n, row, NOT $indicative OR coalesce(n.attribution_indicative, true) AS counts
  SET n.attributed_in = CASE WHEN counts THEN $run ELSE n.attributed_in END,
      n.attribution_indicative = CASE WHEN counts THEN $indicative ELSE false END
  SET n += CASE WHEN counts THEN $known ELSE {} END
  SET n += CASE WHEN counts THEN row.labels ELSE {} END
  WITH n, row
  CALL (n, row) {
    UNWIND row.attributed AS source
    CALL (n, source) {  // a single sentence: else the node's text is held once a row
      MATCH (u:Span)
      WHERE u.process_id = $process_id AND u.node_id = source[0]
      MERGE (m:Sentence {
        process_id: $process_id, node_id: source[0], index: source[1], start: source[2],
        end: source[3]
      })
      ON CREATE SET m.text = source[4], m.caption = source[5]
      MERGE (m)-[:SENTENCE_OF]->(u)
      CREATE (n)-[r:ATTRIBUTED_TO {run: $run, categories: source[6], engine: $engine}]->(m)
      SET r.propositions = source[7]
    }
  }
  RETURN n.index AS written
}
RETURN count(written) AS done
