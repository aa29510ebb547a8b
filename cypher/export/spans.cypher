// purpose: Nodes of a process by their ids, with texts, packed by the hundred.
// param process_id: string - the process
// param node_ids: list - the nodes
// column nodes: list - properties of each node
// source: VeriTrail 2
UNWIND $node_ids AS node_id
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = node_id
WITH collect(properties(s)) AS found
UNWIND range(0, size(found) - 1, 100) AS start
RETURN found[start..start + 100] AS nodes
