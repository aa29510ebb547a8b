// purpose: src() of a set of nodes: their source nodes, each once, packed by the thousand.
// param process_id: string - the process
// param rows: list - [number, node_id] of the nodes whose source nodes are asked for
// param lowest: integer - only source nodes of this stage or a later one
// param edges: integer - at most so many edges are followed; as many are an answer cut short
// param with_texts: integer - texts come along when there are no more source nodes than this
// param longest: integer - a text is cut behind so many UTF-16 units
// column nodes: list - [node_id, stage, position, role, text or null, [numbers of the targets]]
// source: VeriTrail 2 (src), C.1 Algorithm 1 lines 6, 20, 23
UNWIND $rows AS row
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = row[1]
MATCH (v)<-[:INPUT_TO]-(u:Span)
WHERE u.stage >= $lowest
WITH row[0] AS target, u LIMIT $edges
WITH u, collect(target) AS targets
WITH collect([u, targets]) AS found
WITH found, size(found) <= $with_texts AS with_texts
UNWIND range(0, size(found) - 1, 1000) AS start
RETURN [x IN found[start..start + 1000] | [
  x[0].node_id, x[0].stage, x[0].position, x[0].role,
  CASE WHEN with_texts THEN left(x[0].text, $longest) END, x[1]
]] AS nodes
