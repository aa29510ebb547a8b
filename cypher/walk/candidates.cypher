// purpose: The next frontier of a walk: src() of a set of nodes, without the nodes that were checked.
// param process_id: string - the process
// param node_ids: list - the nodes whose source nodes are asked for
// param checked: map - by node_id: the nodes that were checked
// column node_ids: list - the candidates, each once, some thousand a row
// source: VeriTrail C.1 Algorithm 1 line 25
UNWIND $node_ids AS node_id
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = node_id
MATCH (v)<-[:INPUT_TO]-(u:Span)
WHERE $checked[u.node_id] IS NULL
WITH DISTINCT u
WITH collect(u.node_id) AS found
UNWIND range(0, size(found) - 1, 5000) AS start
RETURN found[start..start + 5000] AS node_ids
