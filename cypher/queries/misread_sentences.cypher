// purpose: Source sentences that are misread most often: attributed to a sentence that says otherwise, nearly the same, or what is missing there.
// param process_id: string - the process
// param limit: integer = 100 in 1..10000 - at most this many
// column node_id: string - the source node
// column stage: integer - its stage
// column sentence: integer - the sentence's number in the node, counted from 0
// column text: string - the sentence
// column misread: integer - sentences that rest on it and are wrong about it
// column contradicted: integer - those of them that it contradicts
// column near_matches: integer - those that nearly say what it says
// column expected: integer - those whose content would be expected there
// column attributed: integer - all sentences that rest on it
// column against: list - what these sentences were attributed to: inputs of their nodes, or roots
// group: Where it went wrong
// example: process_id=harbour-summary
// source: Error-tolerant attribution 8 (source sentences that are linked to unfaithful ones)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (n:Sentence {process_id: $process_id})-[r:ATTRIBUTED_TO]->(m:Sentence)-[:SENTENCE_OF]->(s:Span)
WHERE r.run = n.attributed_in
WITH s.stage AS stage, s.position AS position, m, r.categories AS categories,
     n.attributed_against AS given
WITH stage, position, m, count(*) AS attributed, collect(DISTINCT given) AS given,
     sum(CASE WHEN any(c IN categories WHERE c <> 'EVIDENCE') THEN 1 ELSE 0 END) AS misread,
     sum(CASE WHEN 'CONTRADICTION' IN categories THEN 1 ELSE 0 END) AS contradicted,
     sum(CASE WHEN 'NEAR_MATCH' IN categories THEN 1 ELSE 0 END) AS near_matches,
     sum(CASE WHEN 'EXPECTED_SPAN' IN categories THEN 1 ELSE 0 END) AS expected
WHERE misread > 0
RETURN m.node_id AS node_id, stage, m.index AS sentence, m.text AS text, misread, contradicted,
       near_matches, expected, attributed,
       [one IN ['inputs', 'roots'] WHERE one IN given] AS against
ORDER BY misread DESC, stage, position, sentence LIMIT $limit
