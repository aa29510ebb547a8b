// purpose: Texts of nodes, packed by the thousand.
// param process_id: string - the process
// param node_ids: list - the nodes
// param longest: integer - the most UTF-16 units of a text
// column nodes: list - [node_id, text]
// source: VeriTrail 3.1.2
UNWIND $node_ids AS node_id
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = node_id
WITH collect(s) AS found
UNWIND range(0, size(found) - 1, 1000) AS start
RETURN [s IN found[start..start + 1000] | [s.node_id, left(s.text, $longest)]] AS nodes
