// purpose: How many claims unsupported content came into at some nodes, by each claim's verification in force.
// param process_id: string - the process
// param node_ids: list - the nodes
// column node_id: string - a node at which it came in
// column claims: integer - of how many claims it is, or may be, the place
// source: VeriTrail 3.2 (error localization)
UNWIND $node_ids AS node_id
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = node_id
MATCH (s)<-[:ERROR_INTRODUCED_AT]-(v:Verification {method: 'veritrail'})-[:VERIFIES]->(c:Claim)
WHERE c.origin IS NULL AND EXISTS { (c)-[:IN_FORCE]->(v) }
RETURN s.node_id AS node_id, count(DISTINCT c) AS claims
ORDER BY node_id
