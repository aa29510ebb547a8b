// purpose: Whether src() of a set of nodes has any that was not checked, and the edges from those checked.
// param process_id: string - the process
// param rows: list - [number, node_id] of the nodes whose source nodes are asked for
// param checked: map - by node_id: the nodes that were checked
// param edges: integer - the most edges that are followed; an answer with as many is incomplete
// column followed: integer - how many edges were followed
// column left: string - the node_id of a source node that was not checked, null where there is none
// column edges: list - [number of the node, node_id] of each source node that was checked
// source: VeriTrail C.1 Algorithm 1 lines 25, 26, 29
UNWIND $rows AS row
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = row[1]
MATCH (v)<-[:INPUT_TO]-(u:Span)
WITH row[0] AS target, u.node_id AS node_id LIMIT $edges
RETURN count(*) AS followed,
       min(CASE WHEN $checked[node_id] IS NULL THEN node_id END) AS left,
       collect(CASE WHEN $checked[node_id] THEN [target, node_id] END) AS edges
