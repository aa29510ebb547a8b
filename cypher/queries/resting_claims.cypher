// purpose: Claims that rest on a node: those with a verdict that its sentences were evidence for.
// param process_id: string - the process
// param node_id: string - the node
// param verdict: string = FULLY_SUPPORTED in NOT_FULLY_SUPPORTED|FULLY_SUPPORTED|INCONCLUSIVE - only claims with this verdict, by the verification in force
// param limit: integer = 100 in 1..10000 - at most this many
// column claim_id: string - the claim
// column claim: string - its text
// column verification_id: string - the verification
// column sentences: list - the sentences of the node that it cites: {sentence, role, text}
// column other_roots: integer - how many other root nodes it cites; 0 for a root node: the claim falls with it
// column indicative: boolean - whether no model judged, so that the verdict is indicative only
// group: What rests on what
// example: process_id=harbour-summary node_id=c02
// source: VeriTrail 3.2 (evidence trail), read downstream
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (s:Span {process_id: $process_id, node_id: $node_id})
MATCH (s)<-[:SENTENCE_OF]-(n:Sentence)<-[cites:CITES]-(:Evidence)<-[:FOUND]-(:Iteration)
      <-[:HAS_ITERATION]-(v:Verification)-[:VERIFIES]->(c:Claim)
WHERE v.status = 'succeeded' AND v.verdict = $verdict
WITH s, c, v, n, cites ORDER BY n.index
WITH s, c, v, collect({sentence: n.index, role: cites.role, text: n.text}) AS sentences
WHERE c.origin IS NULL AND EXISTS { (c)-[:IN_FORCE]->(v) }
WITH s, c, v, sentences ORDER BY c.position, c.claim_id LIMIT $limit
RETURN c.claim_id AS claim_id, c.text AS claim, v.verification_id AS verification_id, sentences,
       COUNT {
         MATCH (v)-[:HAS_ITERATION]->(:Iteration)-[:FOUND]->(:Evidence)-[:CITES]->(:Sentence)
               -[:SENTENCE_OF]->(other:Span)
         WHERE other.role = 'root' AND other.node_id <> s.node_id
         RETURN DISTINCT other
       } AS other_roots,
       v.indicative AS indicative
ORDER BY c.position, c.claim_id
