// purpose: Terminal nodes that depend on a node, nearest first.
// param process_id: string - the process
// param node_id: string - the node
// param limit: integer = 100 in 1..10000 - at most this many
// column node_id: string - a terminal node
// column hops: integer - steps of the process between the two; 0 when the node is terminal itself
// column claims: integer - how many claims it states
// column text: string - the first 200 characters of its text
// group: What rests on what
// example: process_id=harbour-summary node_id=s14
// source: VeriTrail 2 (terminal nodes)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (n:Span {process_id: $process_id, node_id: $node_id})
UNWIND p.terminals AS terminal
MATCH (t:Span)
WHERE t.process_id = $process_id AND t.node_id = terminal AND t.stage >= n.stage
// shortestPath looks at every node once; a path pattern would list every way through the process.
MATCH way = shortestPath((n)-[:INPUT_TO*0..10000]->(t))
WITH t, length(way) AS hops ORDER BY hops, t.position LIMIT $limit
RETURN t.node_id AS node_id, hops, COUNT { MATCH (t)<-[:EXTRACTED_FROM]-(c:Claim) WHERE c.origin IS NULL } AS claims,
       left(t.text, 200) AS text
ORDER BY hops, t.position
