// purpose: src() of a set of nodes: their source nodes, each once, in columns by the thousand.
// param process_id: string - the process
// param rows: list - [number, node_id] of the nodes whose source nodes are asked for
// param checked: map - by node_id: nodes that were checked
// param edges: integer - the most edges that are followed; an answer with as many is incomplete
// param with_texts: boolean - whether texts come along
// param longest: integer - the most UTF-16 units of a text
// column node_ids: list - the source nodes
// column stages: list - their stages
// column positions: list - their places in the input
// column roles: list - root, intermediate, terminal or unsourced
// column texts: list - their texts, or null
// column targets: list - of each, the number of the node that it was an input to, or a list
// column passed: list - those of the source nodes that were checked
// source: VeriTrail 2 (src), C.1 Algorithm 1 lines 6, 20, 23, 25
UNWIND $rows AS row
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = row[1]
MATCH (v)<-[:INPUT_TO]-(u:Span)
WITH row[0] AS target, u LIMIT $edges
WITH u, collect(target) AS targets
WITH collect(u.node_id) AS node_ids, collect(u.stage) AS stages,
     collect(u.position) AS positions, collect(u.role) AS roles,
     collect(u) AS nodes,
     collect(CASE WHEN size(targets) = 1 THEN targets[0] ELSE targets END) AS targets
UNWIND range(0, size(node_ids) - 1, 1000) AS start
WITH start, start + 1000 AS end, node_ids, stages, positions, roles, nodes, targets
RETURN node_ids[start..end] AS node_ids, stages[start..end] AS stages,
       positions[start..end] AS positions, roles[start..end] AS roles,
       CASE WHEN $with_texts THEN [u IN nodes[start..end] | left(u.text, $longest)] END AS texts,
       targets[start..end] AS targets,
       [name IN node_ids[start..end] WHERE $checked[name]] AS passed
