// purpose: Bloom, action on selected verifications: their evidence trails.
// param nodes: list - internal ids of what is selected
// column v: any - a selected verification
// column belongs: any - that the iteration belongs to it
// column i: any - an iteration
// column found: any - what it found
// column e: any - the evidence
// column cites: any - that the evidence cites the sentence
// column n: any - a sentence
// column within: any - that the sentence is in the node
// column s: any - the node
// source: VeriTrail 3.2 (evidence trail)
MATCH (v:Verification)-[belongs:HAS_ITERATION]->(i:Iteration)
WHERE elementId(v) IN $nodes
OPTIONAL MATCH (i)-[found:FOUND]->(e:Evidence)-[cites:CITES]->(n:Sentence)
               -[within:SENTENCE_OF]->(s:Span)
RETURN v, belongs, i, found, e, cites, n, within, s
ORDER BY i.number, e.position, cites.position
LIMIT 1000
