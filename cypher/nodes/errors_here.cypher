// purpose: Claims into which unsupported content came at a node, by each claim's verification in force.
// param process_id: string - the process
// param node_id: string - the node
// param limit: integer - at most this many
// column claim_id: string - the claim
// column claim: string - its text
// column verification_id: string - the verification
// column indicative: boolean - whether no model judged
// source: VeriTrail 3.2 (error localization)
MATCH (s:Span {process_id: $process_id, node_id: $node_id})
MATCH (s)<-[:ERROR_INTRODUCED_AT]-(v:Verification)-[:VERIFIES]->(c:Claim)
WHERE c.origin IS NULL AND EXISTS { (c)-[:IN_FORCE]->(v) }
WITH c, v ORDER BY c.position, c.claim_id LIMIT $limit
RETURN c.claim_id AS claim_id, c.text AS claim, v.verification_id AS verification_id,
       v.indicative AS indicative
ORDER BY c.position, c.claim_id
