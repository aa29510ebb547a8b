// purpose: Ids and edges of a window of the input, without texts, packed by the thousand.
// param process_id: string - the process
// param first: integer - the first position of the window
// param end: integer - the position behind its last one
// column nodes: list - [node_id, stage, position, role, [positions of its source nodes]]
// source: VeriTrail 2 (processes as directed acyclic graphs)
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id >= ''
  AND v.position >= $first AND v.position < $end
OPTIONAL MATCH (v)<-[:INPUT_TO]-(u:Span)
WITH v, collect(u.position) AS sources
WITH collect([v.node_id, v.stage, v.position, v.role, sources]) AS found
UNWIND range(0, size(found) - 1, 1000) AS start
RETURN found[start..start + 1000] AS nodes
