// purpose: Wordings that were proposed for unfaithful sentences, with what became of them when they were verified again; fixed ones first.
// param process_id: string - the process
// param node_id: string = null - only those of this node
// param outcome: string = null in fixed|partly|not - only those with this outcome
// param limit: integer = 100 in 1..10000 - at most this many
// column node_id: string - the node that holds the sentence
// column stage: integer - its stage
// column sentence: integer - the sentence's number in the node, counted from 0
// column text: string - the sentence as it is
// column proposed: string - the proposed wording
// column mode: string - what the model saw that proposed it
// column edits: integer - words that differ
// column outcome: string - fixed, partly or not; null where it was not verified again
// column rechecked_by: string - judge or walk
// column rank: integer - among the wordings of several modes, 1 is best; null where there is one
// column engine: string - the engine that proposed it
// column run: string - the run
// group: Where it went wrong
// example: process_id=harbour-summary
// source: Error-tolerant attribution 7
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (x:Revision {process_id: $process_id})-[:REVISES]->(n:Sentence)-[:SENTENCE_OF]->(s:Span)
WHERE ($node_id IS NULL OR n.node_id = $node_id) AND ($outcome IS NULL OR x.outcome = $outcome)
WITH s.stage AS stage, s.position AS position, n, x,
     CASE x.outcome WHEN 'fixed' THEN 0 WHEN 'partly' THEN 1 WHEN 'not' THEN 2 ELSE 3 END AS order
RETURN n.node_id AS node_id, stage, n.index AS sentence, n.text AS text, x.text AS proposed,
       x.mode AS mode, x.edits AS edits, x.outcome AS outcome, x.rechecked_by AS rechecked_by,
       x.rank AS rank, x.engine AS engine, x.run AS run
ORDER BY order, stage, position, sentence, coalesce(x.rank, 0), mode, engine LIMIT $limit
