// purpose: Some sentences with what they rest on, by the attribution in force, and with the wordings that were proposed for them.
// param process_id: string - the process
// param places: list - [node_id, index, start, end] of each sentence
// column place: list - [node_id, index, start, end, text] of a sentence that is attributed
// column known: map - what else is stored of it
// column attributed: list - [node_id, index, start, end, text, categories, engine, stage, position, propositions] of each source sentence
// column revisions: list - properties of each wording
// source: Error-tolerant attribution 3
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
UNWIND $places AS place
MATCH (n:Sentence)
WHERE n.process_id = $process_id AND n.node_id = place[0] AND n.index = place[1]
  AND n.start = place[2] AND n.end = place[3] AND n.attributed_in IS NOT NULL
OPTIONAL MATCH (n)-[r:ATTRIBUTED_TO]->(m:Sentence)
WHERE r.run = n.attributed_in
OPTIONAL MATCH (m)-[:SENTENCE_OF]->(u:Span)
WITH n, CASE WHEN m IS NULL THEN null ELSE
       [m.node_id, m.index, m.start, m.end, m.text, r.categories, r.engine, u.stage, u.position,
        r.propositions]
     END AS source
WITH n, collect(source) AS attributed
OPTIONAL MATCH (n)<-[:REVISES]-(x:Revision)
WITH n, attributed, collect(properties(x)) AS revisions
RETURN [n.node_id, n.index, n.start, n.end, n.text] AS place,
       {attributed_in: n.attributed_in, engine: n.attribution_engine, model: n.attribution_model,
        against: n.attributed_against, attributed_at: n.attributed_at,
        indicative: n.attribution_indicative, implied_label: n.implied_label,
        judged_label: n.judged_label,
        judged_reason: n.judged_reason, correction: n.correction,
        corrected_label: n.corrected_label, dropped_ids: coalesce(n.dropped_ids, 0),
        propositions: n.propositions, proposition_spans: n.proposition_spans} AS known,
       attributed, revisions
ORDER BY place[0], place[2], place[3]
