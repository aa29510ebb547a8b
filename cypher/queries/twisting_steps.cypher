// purpose: Steps by how many of the sentences that they wrote are unfaithful to the step's own sources (`attribute --against inputs`), by the attribution in force.
// param process_id: string - the process
// param limit: integer = 100 in 1..10000 - at most this many
// column stage: integer - the stage of what the step wrote
// column step: string - the step; null where the input names none
// column sentences: integer - its sentences that were attributed
// column unfaithful: integer - those of them that are unfaithful: judged so, or implied where no judge was asked
// column share: float - unfaithful of all
// column contradictions: integer - those that contradict a source sentence
// column near_matches: integer - those that nearly say what a source sentence says
// column expected: integer - those with content that would be expected in a source sentence
// column without_source: integer - those that rest on no source sentence, or hold a proposition that rests on none
// group: Where it went wrong
// example: process_id=harbour-summary
// source: Error-tolerant attribution 3
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (n:Sentence {process_id: $process_id})
WHERE n.attributed_in IS NOT NULL AND n.attributed_against = 'inputs'
MATCH (n)-[:SENTENCE_OF]->(s:Span)
WITH s.stage AS stage, s.step AS step, n
OPTIONAL MATCH (n)-[r:ATTRIBUTED_TO]->(:Sentence)
WHERE r.run = n.attributed_in
WITH stage, step, n, collect(r.categories) AS found, collect(r.propositions) AS parts
WITH stage, step, coalesce(n.judged_label, n.implied_label) AS label,
     CASE WHEN size(found) = 0 OR any(i IN range(0, size(coalesce(n.propositions, [])) - 1)
                WHERE none(one IN parts
                  WHERE any(each IN one WHERE toInteger(split(each, ' ')[0]) = i)))
          THEN 1 ELSE 0 END AS lacks,
     CASE WHEN any(c IN found WHERE 'CONTRADICTION' IN c) THEN 1 ELSE 0 END AS contradicts,
     CASE WHEN any(c IN found WHERE 'NEAR_MATCH' IN c) THEN 1 ELSE 0 END AS near,
     CASE WHEN any(c IN found WHERE 'EXPECTED_SPAN' IN c) THEN 1 ELSE 0 END AS expects
WITH stage, step, count(*) AS sentences,
     sum(CASE WHEN label = 'UNFAITHFUL' THEN 1 ELSE 0 END) AS unfaithful,
     sum(contradicts) AS contradictions, sum(near) AS near_matches, sum(expects) AS expected,
     sum(lacks) AS without_source
RETURN stage, step, sentences, unfaithful, toFloat(unfaithful) / sentences AS share,
       contradictions, near_matches, expected, without_source
ORDER BY unfaithful DESC, share DESC, stage, coalesce(step, '') LIMIT $limit
