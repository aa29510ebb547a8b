// purpose: A page of the turns of a dialogue as they were said, in their order.
// param process_id: string - the dialogue
// param kinds: list - the kinds of turns
// param stage: integer - stage of the turn before the page; -1 at first
// param position: integer - its place in the input; -1 at first
// param until: integer - stage of the last turn that is wanted
// param limit: integer - at most this many
// param longest: integer - at most this many characters of a text
// column node_id: string - the turn
// column kind: string - its kind, which says who speaks
// column stage: integer - its stage: the number of the turn
// column position: integer - its place in the input
// column text: string - its text, or how it begins
// column length: integer - characters of its text
// source: VISTA 3
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.kind IN $kinds AND s.node_id STARTS WITH 'turn/'
  AND s.stage <= $until
  AND (s.stage > $stage OR (s.stage = $stage AND s.position > $position))
RETURN s.node_id AS node_id, s.kind AS kind, s.stage AS stage, s.position AS position,
       left(s.text, $longest) AS text, size(s.text) AS length
ORDER BY stage, position
LIMIT $limit
