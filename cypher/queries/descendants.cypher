// purpose: Descendants of a node: everything that was made from it, directly or not, nearest first.
// param process_id: string - the process
// param node_id: string - the node
// param depth: integer = 10 in 1..1000 - at most this many steps away
// param limit: integer = 100 in 1..10000 - at most this many
// column node_id: string - a descendant
// column hops: integer - the fewest steps of the process between the two
// column stage: integer - its stage
// column role: string - root, intermediate or terminal
// column kind: string - what it is
// column step: string - the step that produced it
// column text: string - the first 200 characters of its text
// group: The process as a graph
// example: process_id=harbour-summary node_id=c02
// source: VeriTrail 2, read downstream
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (n:Span {process_id: $process_id, node_id: $node_id})
// Step by step, every node once a step. A step that reaches the limit is the last one: it alone
// holds as many nodes as there can be rows.
WITH reduce(steps = [{nodes: [n]}], hop IN range(1, $depth) |
       CASE
         WHEN size(steps[-1].nodes) = 0 OR size(steps[-1].nodes) >= $limit THEN steps
         ELSE steps + {hop: hop, nodes: COLLECT {
           UNWIND steps[-1].nodes AS u
           MATCH (u)-[:INPUT_TO]->(w:Span)
           RETURN DISTINCT w
         }}
       END
     ) AS steps
UNWIND steps[1..] AS step
UNWIND step.nodes AS u
WITH u, min(step.hop) AS hops
WITH u, hops ORDER BY hops, u.stage, u.position LIMIT $limit
RETURN u.node_id AS node_id, hops, u.stage AS stage, u.role AS role, u.kind AS kind,
       u.step AS step, left(u.text, 200) AS text
ORDER BY hops, u.stage, u.position
