// purpose: Bloom, "Show provenance of claim $claim": the evidence trail of its verdict in force, down to the claim.
// param claim: string - PROCESS/CLAIM, a claim_id alone, or the text of a claim
// column c: any - the claim
// column verifies: any - that the verification verifies it
// column v: any - its verification in force
// column stated: any - where it was extracted from
// column t: any - the node that states it
// column n: any - a sentence that is evidence
// column cites: any - that the node of the trail cites the sentence
// column x: any - a node of the evidence trail
// column at: any - the span that it stands for
// column u: any - the span
// column link: any - a link of the evidence trail
// column w: any - the next node of the trail, or the verification
// source: VeriTrail 3.2 (provenance)
MATCH (p:Process {status: 'ready'})
MATCH (c:Claim {process_id: p.process_id})-[stated:EXTRACTED_FROM]->(t:Span)
WHERE c.claim_id = $claim OR p.process_id + '/' + c.claim_id = $claim OR c.text = $claim
WITH c, stated, t ORDER BY c.process_id, c.position LIMIT 20
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)-[verifies:VERIFIES]->(c)
WITH c, stated, t, v, verifies
OPTIONAL MATCH (x:TrailNode)
WHERE x.verification_id = v.verification_id AND x.node_id >= ''
OPTIONAL MATCH (x)-[at:AT]->(u:Span)
OPTIONAL MATCH (x)-[cites:CITES]->(n:Sentence)
WITH c, stated, t, v, verifies, x, at, u,
     collect(CASE
       WHEN n IS NULL THEN null
       ELSE {n: n, cites: cites, link: null, w: null, place: n.index}
     END) AS sentences
OPTIONAL MATCH (x)-[link:LEADS_TO]->(w)
WITH c, stated, t, v, verifies, x, at, u, sentences,
     collect(CASE
       WHEN link IS NULL THEN null
       ELSE {n: null, cites: null, link: link, w: w, place: 1000000000}
     END) AS links
// A node's sentences and its links are separate rows: their product would be unbounded.
UNWIND CASE WHEN x IS NULL THEN [{place: 0}] ELSE sentences + links END AS row
RETURN c, verifies, v, stated, t, row.n AS n, row.cites AS cites, x, at, u, row.link AS link, row.w AS w
ORDER BY c.process_id, c.position, x.iteration, x.position, row.place
LIMIT 1000
