// purpose: What each sentence of a node rests on, also where it is wrong, by its attribution in force.
// param process_id: string - the process
// param node_id: string - the node that holds the sentences
// param sentence: integer = null in 0..2147483647 - only this sentence, counted from 0
// param limit: integer = 100 in 1..10000 - at most this many
// column sentence: integer - the sentence's number in the node, counted from 0
// column text: string - the sentence
// column implied_label: string - FAITHFUL or UNFAITHFUL, as the categories imply
// column judged_label: string - what a judge said; null where none was asked
// column categories: list - what the source sentence is to it; null where it rests on none
// column source_node_id: string - the source node; null where it rests on none
// column source_sentence: integer - the source sentence's number in its node, counted from 0
// column source_text: string - the source sentence
// column correction: string - a proposed wording; null where there is none
// column engine: string - the engine that attributed, also where the sentence rests on none
// column run: string - the run
// column against: string - what it was attributed to: inputs of the node, or roots
// group: What rests on what
// example: process_id=harbour-summary node_id=final
// source: Error-tolerant attribution 3
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (n:Sentence {process_id: $process_id, node_id: $node_id})
WHERE n.attributed_in IS NOT NULL AND ($sentence IS NULL OR n.index = $sentence)
OPTIONAL MATCH (n)-[r:ATTRIBUTED_TO]->(m:Sentence)
WHERE r.run = n.attributed_in
RETURN n.index AS sentence, n.text AS text, n.implied_label AS implied_label,
       n.judged_label AS judged_label, r.categories AS categories, m.node_id AS source_node_id,
       m.index AS source_sentence, m.text AS source_text, n.correction AS correction,
       n.attribution_engine AS engine, n.attributed_in AS run,
       n.attributed_against AS against
ORDER BY sentence, source_node_id, source_sentence LIMIT $limit
