// purpose: Impact of a node: the claims that depend on it, those first whose evidence it holds; follows at most 10,000 steps downstream.
// param process_id: string - the process
// param node_id: string - the node
// param limit: integer = 100 in 1..10000 - at most this many
// column relation: string - evidence: in the evidence trail of the claim's verification in force; downstream: only an input, direct or not, to the claim's node
// column claim_id: string - the claim
// column claim: string - its text
// column claim_node_id: string - the node that states it
// column hops: integer - steps of the process between the two nodes; 0 when the node states the claim itself
// column verdict: string - verdict of the verification in force, or null
// column verification_id: string - that verification
// column status: string - that of the verification in force, else of the latest one of its text: undecided and failed have no verdict; undecided, too, where the check of its turn could not tell; null: never verified
// group: What rests on what
// example: process_id=harbour-summary node_id=s14
// source: VeriTrail 3.2 (provenance), read downstream
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (n:Span {process_id: $process_id, node_id: $node_id})
MATCH (c:Claim {process_id: $process_id})-[:EXTRACTED_FROM]->(t:Span)
WHERE t.stage >= n.stage AND c.origin IS NULL
WITH n, t, collect(c) AS claims
// shortestPath looks at every node once; a path pattern would list every way through the process.
MATCH way = shortestPath((n)-[:INPUT_TO*0..10000]->(t))
WITH t.node_id AS claim_node_id, length(way) AS hops, claims
UNWIND claims AS c
// Else every row that is sorted would hold the list of all claims, and the text of the node.
WITH claim_node_id, hops, c
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)
WITH claim_node_id, hops, c, v
WITH claim_node_id, hops, c, v, v IS NOT NULL AND EXISTS {
       MATCH (v)-[:HAS_ITERATION]->(:Iteration)-[:FOUND]->(:Evidence)-[:CITES]->(s:Sentence)
       WHERE s.node_id = $node_id
     } AS is_evidence
ORDER BY is_evidence DESC, hops, c.position, c.claim_id LIMIT $limit
RETURN CASE WHEN is_evidence THEN 'evidence' ELSE 'downstream' END AS relation,
       c.claim_id AS claim_id, c.text AS claim, claim_node_id, hops,
       v.verdict AS verdict, v.verification_id AS verification_id,
       coalesce(v.status, head(COLLECT {
         MATCH (c)<-[:VERIFIES]-(x:Verification {method: 'veritrail'})
         WHERE x.claim IN [c.text, c.text + '.'] OR c.text = x.claim + '.'
         RETURN x.status ORDER BY x.created_at DESC, x.verification_id DESC LIMIT 1
       }), c.turn_status) AS status
ORDER BY is_evidence DESC, hops, c.position, c.claim_id
