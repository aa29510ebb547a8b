// purpose: Bloom, "Claims of process $process": its claims, the nodes that state them, their verdicts in force.
// param process: string - the process
// column c: any - a claim
// column stated: any - where it was extracted from
// column t: any - the node that states it
// column v: any - its verification in force
// column verifies: any - that it verifies the claim
// source: VeriTrail 3.2
MATCH (:Process {process_id: $process, status: 'ready'})
MATCH (c:Claim {process_id: $process})-[stated:EXTRACTED_FROM]->(t:Span)
WHERE c.origin IS NULL
WITH c, stated, t ORDER BY c.position, c.claim_id LIMIT 1000
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)-[verifies:VERIFIES]->(c)
RETURN c, stated, t, v, verifies
ORDER BY c.position, c.claim_id
LIMIT 1000
