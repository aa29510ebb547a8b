// purpose: Propositions of sentences that are unfaithful to their sources, by the attribution in force; of sentences that were split (`attribute --propositions`).
// param process_id: string - the process
// param node_id: string = null - only those of this node
// param limit: integer = 100 in 1..10000 - at most this many
// column node_id: string - the node that holds the sentence
// column stage: integer - its stage
// column sentence: integer - the sentence's number in the node, counted from 0
// column text: string - the sentence
// column number: integer - the proposition's number in the sentence, counted from 0
// column proposition: string - its words; … marks a gap
// column spans: string - where they are in the node's text: START-END, or several of them
// column of: integer - how many propositions the sentence has
// group: Where it went wrong
// example: process_id=harbour-summary
// source: Error-tolerant attribution A.2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (n:Sentence {process_id: $process_id})-[:SENTENCE_OF]->(s:Span)
WHERE n.propositions IS NOT NULL AND ($node_id IS NULL OR n.node_id = $node_id)
UNWIND range(0, size(n.propositions) - 1) AS number
WITH n, s.stage AS stage, s.position AS position, number
WHERE n.proposition_labels[number] = 'UNFAITHFUL'
RETURN n.node_id AS node_id, stage, n.index AS sentence, n.text AS text, number,
       n.propositions[number] AS proposition, n.proposition_spans[number] AS spans,
       size(n.propositions) AS of
ORDER BY stage, position, sentence, number LIMIT $limit
