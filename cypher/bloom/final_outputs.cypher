// purpose: Bloom, "Final outputs of process $process": what the process produced in the end, and the claims about it.
// param process: string - the process
// column p: any - the process
// column has: any - that the node is a final output of it
// column t: any - a final output
// column stated: any - that the claim states what the node says
// column c: any - a claim
// source: VeriTrail 2 (a terminal node is a final output)
MATCH (p:Process {process_id: $process, status: 'ready'})-[has:HAS_FINAL_OUTPUT]->(t:Span)
OPTIONAL MATCH (t)<-[stated:EXTRACTED_FROM]-(c:Claim)
WHERE c.origin IS NULL
RETURN p, has, t, stated, c
ORDER BY t.position, c.position
LIMIT 1000
