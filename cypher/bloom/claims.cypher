// purpose: Bloom, "Claims of process $process": its claims, the nodes that state them, their latest verdicts.
// param process: string - the process
// column c: any - a claim
// column stated: any - where it was extracted from
// column t: any - the node that states it
// column v: any - its latest succeeded verification
// column verifies: any - that it verifies the claim
// source: VeriTrail 3.2
MATCH (:Process {process_id: $process, status: 'ready'})
MATCH (c:Claim {process_id: $process})-[stated:EXTRACTED_FROM]->(t:Span)
WITH c, stated, t ORDER BY c.position, c.claim_id LIMIT 1000
OPTIONAL MATCH (c)<-[verifies:VERIFIES]-(v:Verification {status: 'succeeded'})
WITH c, stated, t, v, verifies ORDER BY v.created_at DESC, v.verification_id DESC
WITH c, stated, t, head(collect(v)) AS v, head(collect(verifies)) AS verifies
RETURN c, stated, t, v, verifies
ORDER BY c.position, c.claim_id
LIMIT 1000
