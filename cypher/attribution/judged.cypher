// purpose: Sentences of some nodes that a judge or a corrector was asked about, with what an engine attributed them to.
// param process_id: string - the process
// param places: list - [node_id, numbers of its sentences] of each node
// param engine: string - the engine
// column place: list - [node_id, index, start, end] of the sentence
// column known: map - what is stored of it
// column attributed: list - [node_id, index, start, end, categories] of each source sentence
// source: ours
UNWIND $places AS place
MATCH (s:Span)<-[:SENTENCE_OF]-(n:Sentence)
WHERE s.process_id = $process_id AND s.node_id = place[0] AND n.index IN place[1]
WITH n  // without the node: every row would hold its whole text
WHERE n.judged_label IS NOT NULL OR n.correction IS NOT NULL
  OR EXISTS { (n)<-[:REVISES]-(:Revision {engine: $engine}) }
OPTIONAL MATCH (n)-[r:ATTRIBUTED_TO {engine: $engine}]->(m:Sentence)
WITH n, CASE WHEN m IS NULL THEN null ELSE
       [m.node_id, m.index, m.start, m.end, r.categories]
     END AS source
WITH n, collect(source) AS attributed
RETURN [n.node_id, n.index, n.start, n.end] AS place,
       {engine: n.attribution_engine, model: n.attribution_model, against: n.attributed_against,
        indicative: n.attribution_indicative, judged_label: n.judged_label,
        judged_reason: n.judged_reason, correction: n.correction,
        corrected_label: n.corrected_label} AS known,
       attributed
