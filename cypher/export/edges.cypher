// purpose: Edges into nodes of a process, from source nodes in a window of the input.
// param process_id: string - the process
// param node_ids: list - the nodes that the edges lead to
// param first: integer - the first position of the window
// param end: integer - the position behind its last one
// column edges: list - [position of the source, position of the target, whether it is cited, how it was inferred, score; the last three may be null]
// source: VeriTrail 2
UNWIND $node_ids AS node_id
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = node_id
MATCH (v)<-[e:INPUT_TO]-(u:Span)
WHERE u.position >= $first AND u.position < $end
WITH collect([u.position, v.position, e.cited, e.inferred, e.score]) AS found
UNWIND range(0, size(found) - 1, 5000) AS start
RETURN found[start..start + 5000] AS edges
