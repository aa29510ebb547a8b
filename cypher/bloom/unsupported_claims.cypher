// purpose: Bloom, "Unsupported claims of process $process": those whose latest verdict says so, and where the error came in.
// param process: string - the process
// column c: any - a claim
// column v: any - its latest succeeded verification
// column verifies: any - that it verifies the claim
// column s: any - a node that introduced the error
// column introduced: any - that the error came in there
// source: VeriTrail 3.2 (error localization)
MATCH (:Process {process_id: $process, status: 'ready'})
MATCH (c:Claim {process_id: $process})<-[verifies:VERIFIES]-(v:Verification {status: 'succeeded'})
WITH c, v, verifies ORDER BY v.created_at DESC, v.verification_id DESC
WITH c, head(collect(v)) AS v, head(collect(verifies)) AS verifies
WHERE v.verdict = 'NOT_FULLY_SUPPORTED'
OPTIONAL MATCH (v)-[introduced:ERROR_INTRODUCED_AT]->(s:Span)
RETURN c, v, verifies, s, introduced
ORDER BY c.position, c.claim_id, s.stage, s.position
LIMIT 1000
