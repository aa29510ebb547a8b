// purpose: Bloom, "Unsupported claims of process $process": those whose verdict in force says so, and where the error came in.
// param process: string - the process
// column c: any - a claim
// column v: any - its verification in force
// column verifies: any - that it verifies the claim
// column s: any - a node that introduced the error
// column introduced: any - that the error came in there
// source: VeriTrail 3.2 (error localization)
MATCH (:Process {process_id: $process, status: 'ready'})
MATCH (c:Claim {process_id: $process})-[:IN_FORCE]->(v:Verification)-[verifies:VERIFIES]->(c)
WHERE c.origin IS NULL AND v.verdict = 'NOT_FULLY_SUPPORTED'
OPTIONAL MATCH (v)-[introduced:ERROR_INTRODUCED_AT]->(s:Span)
RETURN c, v, verifies, s, introduced
ORDER BY c.position, c.claim_id, s.stage, s.position
LIMIT 1000
