// purpose: Bloom, "Where was $claim introduced": the nodes where its error came in, and those that only carried it on.
// param claim: string - PROCESS/CLAIM, a claim_id alone, or the text of a claim
// column c: any - the claim
// column verifies: any - that the verification verifies it
// column v: any - its verification in force
// column located: any - that the error came in there, or was carried on there
// column s: any - a node that introduced the error, or carried it on
// column at: any - that a node of the trail is at that span
// column t: any - the node of the trail
// column link: any - what it leads to
// column w: any - the next node of the trail, or the verification
// source: VeriTrail 3.2 (error localization)
MATCH (p:Process {status: 'ready'})
MATCH (c:Claim {process_id: p.process_id})
WHERE c.claim_id = $claim OR p.process_id + '/' + c.claim_id = $claim OR c.text = $claim
WITH c ORDER BY c.process_id, c.position LIMIT 20
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)-[verifies:VERIFIES]->(c)
WITH c, v, verifies
OPTIONAL MATCH (v)-[located:ERROR_INTRODUCED_AT|ERROR_OFFERED_AT|ERROR_PROPAGATED_THROUGH]->(s:Span)
OPTIONAL MATCH (t:TrailNode)
WHERE t.verification_id = v.verification_id AND t.node_id = s.node_id
OPTIONAL MATCH (t)-[link:LEADS_TO]->(w)
WITH c, v, verifies, s, located, t,
     collect(CASE WHEN link IS NULL THEN null ELSE {link: link, w: w, place: 1} END) AS links
OPTIONAL MATCH (t)-[at:AT]->(s)
WITH c, v, verifies, s, located, at, t, links
// The nodes come first, in rows of their own: no number of links may hide one of them.
UNWIND [{link: null, w: null, place: 0}] + links AS row
RETURN c, verifies, v, located, s, at, t, row.link AS link, row.w AS w
ORDER BY c.process_id, c.position, row.place, s.stage, s.position
LIMIT 1000
