// purpose: A page of the sentences of a node with what they rest on, by the attribution in force or by one run.
// param process_id: string - the process
// param node_id: string - the node
// param run: string - only what this run found; null: the attribution in force
// param after_start: integer - where the last sentence of the page before begins
// param after_end: integer - where it ends
// param limit: integer - at most this many sentences
// column sentence: list - [index, start, end, text]
// column known: map - what else is stored of it; it belongs to the run in force
// column attributed: list - [node_id, index, start, end, text, categories, engine, stage, position, propositions] of each source sentence
// column revisions: list - properties of each wording that was proposed for it
// source: Error-tolerant attribution 3
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (n:Sentence {process_id: $process_id, node_id: $node_id})
WHERE n.attributed_in IS NOT NULL
  AND (n.start > $after_start OR (n.start = $after_start AND n.end > $after_end))
  AND ($run IS NULL OR n.attributed_in = $run OR EXISTS { (n)-[:ATTRIBUTED_TO {run: $run}]->(:Sentence) })
WITH n, coalesce($run, n.attributed_in) AS run
ORDER BY n.start, n.end LIMIT $limit
OPTIONAL MATCH (n)-[r:ATTRIBUTED_TO]->(m:Sentence)
WHERE r.run = run
OPTIONAL MATCH (m)-[:SENTENCE_OF]->(u:Span)
WITH n, CASE WHEN m IS NULL THEN null ELSE
       [m.node_id, m.index, m.start, m.end, m.text, r.categories, r.engine, u.stage, u.position,
        r.propositions]
     END AS source
WITH n, collect(source) AS attributed
OPTIONAL MATCH (n)<-[:REVISES]-(x:Revision)
WITH n, attributed, collect(properties(x)) AS revisions
RETURN [n.index, n.start, n.end, n.text] AS sentence,
       {attributed_in: n.attributed_in, engine: n.attribution_engine, model: n.attribution_model,
        against: n.attributed_against, attributed_at: n.attributed_at,
        indicative: n.attribution_indicative, implied_label: n.implied_label,
        judged_label: n.judged_label,
        judged_reason: n.judged_reason, correction: n.correction,
        corrected_label: n.corrected_label, dropped_ids: coalesce(n.dropped_ids, 0),
        propositions: n.propositions, proposition_spans: n.proposition_spans} AS known,
       attributed, revisions
ORDER BY sentence[1], sentence[2]
