// purpose: A page of the nodes of a process that hold attributed sentences, by the attribution in force.
// param process_id: string - the process
// param after_stage: integer - stage of the last node of the page before
// param after_position: integer - its place in the input
// param limit: integer - at most this many
// column node_id: string - the node
// column stage: integer - its stage
// column position: integer - its place in the input
// column sentences: integer - its sentences that are attributed
// column unfaithful: integer - those that are unfaithful: judged so, or implied where no judge was asked
// column indicative: integer - those for which no model was asked
// column attributed_at: string - when the latest of them was attributed
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (n:Sentence {process_id: $process_id})
WHERE n.attributed_in IS NOT NULL
WITH n.node_id AS node_id, count(*) AS sentences,
     sum(CASE WHEN coalesce(n.judged_label, n.implied_label) = 'UNFAITHFUL' THEN 1 ELSE 0 END)
       AS unfaithful,
     sum(CASE WHEN n.attribution_indicative THEN 1 ELSE 0 END) AS indicative,
     max(n.attributed_at) AS attributed_at
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = node_id
  AND (s.stage > $after_stage OR (s.stage = $after_stage AND s.position > $after_position))
RETURN node_id, s.stage AS stage, s.position AS position, sentences, unfaithful, indicative,
       attributed_at
ORDER BY stage, position LIMIT $limit
