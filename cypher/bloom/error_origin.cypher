// purpose: Bloom, "Where was $claim introduced": the nodes where its error came in, and those that only carried it on.
// param claim: string - PROCESS/CLAIM, a claim_id alone, or the text of a claim
// column c: any - the claim
// column verifies: any - that the verification verifies it
// column v: any - its verification in force
// column located: any - that the error came in there, or was carried on there
// column s: any - a node that introduced the error, or carried it on
// column link: any - that the node was evidence for another one
// column w: any - that other node
// source: VeriTrail 3.2 (error localization)
MATCH (p:Process {status: 'ready'})
MATCH (c:Claim {process_id: p.process_id})
WHERE c.claim_id = $claim OR p.process_id + '/' + c.claim_id = $claim OR c.text = $claim
WITH c ORDER BY c.process_id, c.position LIMIT 20
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)-[verifies:VERIFIES]->(c)
WITH c, v, verifies
OPTIONAL MATCH (v)-[located:ERROR_INTRODUCED_AT|ERROR_OFFERED_AT|ERROR_PROPAGATED_THROUGH]->(s:Span)
OPTIONAL MATCH (s)-[link:EVIDENCE_FOR]->(w:Span)
WHERE link.verification_id = v.verification_id
WITH c, v, verifies, s, located,
     collect(CASE WHEN link IS NULL THEN null ELSE {link: link, w: w, place: 1} END) AS links
// The nodes come first, in rows of their own: no number of links may hide one of them.
UNWIND [{link: null, w: null, place: 0}] + links AS row
RETURN c, verifies, v, located, s, row.link AS link, row.w AS w
ORDER BY c.process_id, c.position, row.place, s.stage, s.position
LIMIT 1000
