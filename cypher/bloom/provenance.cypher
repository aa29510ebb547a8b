// purpose: Bloom, "Show provenance of claim $claim": the evidence of its verdict in force, linked down to the verified node.
// param claim: string - PROCESS/CLAIM, a claim_id alone, or the text of a claim
// column c: any - the claim
// column verifies: any - that the verification verifies it
// column v: any - its verification in force
// column stated: any - where it was extracted from
// column t: any - the node that states it
// column n: any - a sentence that is evidence
// column within: any - that the sentence is in the node
// column u: any - a node with evidence
// column link: any - a link of the provenance path
// column w: any - the node that it was evidence for
// source: VeriTrail 3.2 (provenance)
MATCH (p:Process {status: 'ready'})
MATCH (c:Claim {process_id: p.process_id})-[stated:EXTRACTED_FROM]->(t:Span)
WHERE c.claim_id = $claim OR p.process_id + '/' + c.claim_id = $claim OR c.text = $claim
WITH c, stated, t ORDER BY c.process_id, c.position LIMIT 20
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)-[verifies:VERIFIES]->(c)
WITH c, stated, t, v, verifies
OPTIONAL MATCH (v)-[:HAS_ITERATION]->(i:Iteration)-[:FOUND]->(:Evidence)-[:CITES]->(n:Sentence)
               -[within:SENTENCE_OF]->(u:Span)
WITH c, stated, t, v, verifies, u, n, within, min(i.number) AS round
WITH c, stated, t, v, verifies, u, min(round) AS round,
     collect({n: n, within: within, link: null, w: null, place: n.index}) AS sentences
OPTIONAL MATCH (u)-[link:EVIDENCE_FOR]->(w:Span)
WHERE link.verification_id = v.verification_id
WITH c, stated, t, v, verifies, u, round, sentences,
     collect(CASE
       WHEN link IS NULL THEN null
       ELSE {n: null, within: null, link: link, w: w, place: 1000000000}
     END) AS links
// A node's sentences and its links are separate rows: their product would be unbounded.
UNWIND sentences + links AS row
RETURN c, verifies, v, stated, t, row.n AS n, row.within AS within, u, row.link AS link, row.w AS w
ORDER BY c.process_id, c.position, round, u.position, row.place
LIMIT 1000
