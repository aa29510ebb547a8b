// purpose: Bloom, suggestions for $claim: texts of claims, and their ids behind that of the process.
// column claim: string - what to put in for $claim
// source: ours
MATCH (p:Process {status: 'ready'})
MATCH (c:Claim {process_id: p.process_id})
WITH p, c ORDER BY p.process_id, c.position, c.claim_id LIMIT 1000
UNWIND [c.text, p.process_id + '/' + c.claim_id] AS claim
RETURN DISTINCT claim
ORDER BY claim
LIMIT 2000
