// purpose: Sentences of a node that are evidence, each with every claim that it was cited for, by each claim's verification in force.
// param process_id: string - the process
// param node_id: string - the node
// param limit: integer - at most this many
// column index: integer - the sentence's number in the node, counted from 0
// column text: string - the sentence
// column claim_id: string - the claim
// column claim: string - its text
// column verification_id: string - the verification
// column verdict: string - its verdict; null: it could not be decided
// column indicative: boolean - whether no model judged
// column is_evidence: boolean - whether it was cited as evidence, and not only as context
// source: VeriTrail 3.2 (evidence trail), read downstream
MATCH (s:Span {process_id: $process_id, node_id: $node_id})<-[:SENTENCE_OF]-(n:Sentence)
WITH n  // without the node: every row that is grouped would hold its whole text
MATCH (n)<-[cites:CITES]-(:Evidence)<-[:FOUND]-(:Iteration)
      <-[:HAS_ITERATION]-(v:Verification)-[:VERIFIES]->(c:Claim)
WHERE c.origin IS NULL AND EXISTS { (c)-[:IN_FORCE]->(v) }
WITH n, c, v, collect(cites.role) AS roles
ORDER BY n.index, c.position, c.claim_id LIMIT $limit
RETURN n.index AS index, n.text AS text, c.claim_id AS claim_id, c.text AS claim,
       v.verification_id AS verification_id, v.verdict AS verdict, v.indicative AS indicative,
       'evidence' IN roles AS is_evidence
ORDER BY index, c.position, claim_id
