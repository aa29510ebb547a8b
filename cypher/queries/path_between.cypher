// purpose: Path between two nodes: a shortest way through the process from one to the other.
// param process_id: string - the process
// param from_node_id: string - the node upstream
// param to_node_id: string - the node downstream
// param depth: integer = 100 in 1..1000 - at most this many steps
// column hop: integer - place on the path; 0 where it begins
// column node_id: string - the node
// column stage: integer - its stage
// column role: string - root, intermediate, terminal or unsourced
// column kind: string - what it is
// column step: string - the step that produced it
// column cited: boolean - whether the next node cites it; null where the input does not say
// column text: string - the first 200 characters of its text
// group: The process as a graph
// example: process_id=harbour-summary from_node_id=c02 to_node_id=final
// source: VeriTrail 2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (a:Span {process_id: $process_id, node_id: $from_node_id})
MATCH (b:Span {process_id: $process_id, node_id: $to_node_id})
WHERE b.stage >= a.stage
// Step by step downstream, every node once a step, until the other node is reached; `starts` are the
// places in `nodes` where the steps begin. From step 11 on nodes that were there before are left
// out: a deep process would be walked again in every step, and to look for each node of a wide one
// among all the others costs more than it saves. Then back, by the first node that leads on.
// shortestPath would leave it to the engine which path is given.
WITH a, b, reduce(found = {nodes: [a], starts: [0]}, hop IN range(1, $depth) |
       CASE
         WHEN size(found.nodes) = found.starts[-1] OR b IN found.nodes[found.starts[-1]..] THEN found
         ELSE {
           nodes: found.nodes + COLLECT {
             UNWIND found.nodes[found.starts[-1]..] AS u
             MATCH (u)-[:INPUT_TO]->(w:Span)
             WHERE w.stage <= b.stage
             WITH DISTINCT w
             WHERE hop <= 10 OR NOT w IN found.nodes
             RETURN w
           },
           starts: found.starts + size(found.nodes)
         }
       END
     ) AS found
WITH b, [k IN range(0, size(found.starts) - 1) |
       found.nodes[found.starts[k]..coalesce(found.starts[k + 1], size(found.nodes))]] AS steps
WHERE b IN steps[-1]
WITH reduce(path = [b], back IN range(2, size(steps)) | COLLECT {
       UNWIND [path[0]] AS w
       MATCH (w)<-[:INPUT_TO]-(u:Span)
       WHERE u IN steps[-back]
       RETURN u ORDER BY u.stage, u.position LIMIT 1
     } + path) AS path
UNWIND range(0, size(path) - 1) AS hop
// The last node leads nowhere, not even to itself; null would be any node for ArcadeDB.
WITH hop, path[hop] AS u, coalesce(path[hop + 1], path[hop]) AS w
OPTIONAL MATCH (u)-[input:INPUT_TO]->(w)
RETURN hop, u.node_id AS node_id, u.stage AS stage, u.role AS role, u.kind AS kind, u.step AS step,
       input.cited AS cited, left(u.text, 200) AS text
ORDER BY hop
