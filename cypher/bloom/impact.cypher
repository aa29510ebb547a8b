// purpose: Bloom, "What rests on $node": the claims downstream of it, the shortest way there, their verdicts in force.
// param node: string - PROCESS/NODE, or a node_id alone
// column n: any - the node
// column way: any - the shortest way from it to the node that states the claim
// column t: any - the node that states the claim
// column stated: any - where the claim was extracted from
// column c: any - a claim
// column verifies: any - that the verification verifies it
// column v: any - its verification in force
// source: VeriTrail 3.2 (provenance), read downstream
MATCH (p:Process {status: 'ready'})
WITH p.process_id AS process,
     CASE
       WHEN $node STARTS WITH p.process_id + '/'
         THEN [$node, substring($node, size(p.process_id) + 1)]
       ELSE [$node]  // a node_id may begin like that as well
     END AS names
UNWIND names AS node
MATCH (n:Span)
WHERE n.process_id = process AND n.node_id = node
MATCH (c:Claim {process_id: process})-[stated:EXTRACTED_FROM]->(t:Span)
WHERE t.stage >= n.stage AND c.origin IS NULL
WITH n, t, collect({claim: c, stated: stated}) AS claims
MATCH way = shortestPath((n)-[:INPUT_TO*0..10000]->(t))
UNWIND claims AS each
WITH n, t, way, each.claim AS c, each.stated AS stated
ORDER BY length(way), c.position, c.claim_id LIMIT 500
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)-[verifies:VERIFIES]->(c)
RETURN n, way, t, stated, c, verifies, v
ORDER BY length(way), c.position, c.claim_id
LIMIT 500
