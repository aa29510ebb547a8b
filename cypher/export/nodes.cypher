// purpose: The nodes in a window of the input, without texts, packed by the thousand.
// param process_id: string - the process
// param first: integer - the first position of the window
// param end: integer - the position behind its last one
// column nodes: list - [node_id, position, length of its text, number of its source nodes]
// source: ours
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id >= ''
  AND s.position >= $first AND s.position < $end
WITH collect([
  s.node_id, s.position, size(s.text), COUNT { (s)<-[:INPUT_TO]-() }
]) AS found
UNWIND range(0, size(found) - 1, 1000) AS start
RETURN found[start..start + 1000] AS nodes
