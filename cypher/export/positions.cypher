// purpose: Stage and place of nodes of a process, packed by the thousand.
// param process_id: string - the process
// param node_ids: list - the nodes
// column nodes: list - [node_id, stage, position, role]
// source: ours
UNWIND $node_ids AS node_id
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = node_id
WITH collect([s.node_id, s.stage, s.position, s.role]) AS found
UNWIND range(0, size(found) - 1, 1000) AS start
RETURN found[start..start + 1000] AS nodes
