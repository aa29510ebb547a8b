// purpose: Descendants of a node: everything that was made from it, directly or not, nearest first.
// param process_id: string - the process
// param node_id: string - the node
// param depth: integer = 10 in 1..1000 - at most this many steps away
// param limit: integer = 100 in 1..10000 - at most this many
// column node_id: string - a descendant
// column hops: integer - the fewest steps of the process between the two
// column stage: integer - its stage
// column role: string - root, intermediate, terminal or unsourced
// column kind: string - what it is
// column step: string - the step that produced it
// column text: string - the first 200 characters of its text
// group: The process as a graph
// example: process_id=harbour-summary node_id=c02
// source: VeriTrail 2, read downstream
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (n:Span {process_id: $process_id, node_id: $node_id})
// Step by step, every node once a step; `starts` are the places in `nodes` where the steps begin.
// From step 11 on nodes that were there before are left out: a deep process would be walked again in
// every step, and looking each node of a wide one up among all the others costs more than it saves.
// No node is in it more than 11 times.
WITH reduce(found = {nodes: [n], starts: [0]}, hop IN range(1, $depth) |
       CASE
         WHEN size(found.nodes) = found.starts[-1]
           OR hop > 1 AND size(found.nodes) - found.starts[-1] >= $limit
           OR size(found.nodes) > 11 * $limit THEN found
         ELSE {
           nodes: found.nodes + COLLECT {
             UNWIND found.nodes[found.starts[-1]..] AS u
             MATCH (u)-[:INPUT_TO]->(w:Span)
             WITH DISTINCT w
             WHERE hop <= 10 OR NOT w IN found.nodes
             RETURN w
           },
           starts: found.starts + size(found.nodes)
         }
       END
     ) AS found
UNWIND range(1, size(found.starts) - 1) AS hops
UNWIND found.nodes[found.starts[hops]..coalesce(found.starts[hops + 1], size(found.nodes))] AS u
// An aggregation releases `found`, which a sort would hold once a row.
WITH u, min(hops) AS hops
WITH u, hops ORDER BY hops, u.stage, u.position LIMIT $limit
RETURN u.node_id AS node_id, hops, u.stage AS stage, u.role AS role, u.kind AS kind,
       u.step AS step, left(u.text, 200) AS text
ORDER BY hops, u.stage, u.position
