// purpose: Error origin of a claim: the nodes where unsupported content entered, and how it spread.
// param process_id: string - the process
// param claim_id: string - the claim
// param verification_id: string = null - the verification; the claim's one in force when null
// column verification_id: string - the verification
// column verdict: string - its verdict; node_id is null where there is no error, or none that could be placed
// column indicative: boolean - whether no model judged, so that the verdict is indicative only
// column stage: integer - the error stage
// column node_id: string - a node that introduced the error
// column kind: string - what the node is
// column step: string - the step that produced it
// column model: string - the model that produced it
// column prompt: string - the prompt that produced it
// column sentences: list - its sentences that the verification cites
// column propagated_through: list - node_ids of the later nodes that carried it on, the verified node last
// column located_by: string - how it was found: verdicts (of the walk), value or sides
// column offered: boolean - whether it is an offer of its value, beside verdicts that tell no place
// column source: string - the value that the source has, where a value leads here
// column wrote: string - the one that was written in its place
// column status: string - that of the verification: one that is undecided or failed has no verdict
// group: Where it went wrong
// example: process_id=harbour-summary claim_id=k04
// source: VeriTrail 3.2 (error localization)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id, claim_id: $claim_id})
      <-[:VERIFIES]-(v:Verification {method: 'veritrail'})
WHERE v.verification_id = $verification_id
   OR ($verification_id IS NULL AND EXISTS { (c)-[:IN_FORCE]->(v) })
WITH v LIMIT 1
OPTIONAL MATCH (v)-[error:ERROR_INTRODUCED_AT|ERROR_OFFERED_AT]->(s:Span)
RETURN v.verification_id AS verification_id, v.verdict AS verdict, v.indicative AS indicative,
       s.stage AS stage, s.node_id AS node_id, s.kind AS kind, s.step AS step,
       s.model AS model, s.prompt AS prompt,
       COLLECT {
         MATCH (v)-[:HAS_ITERATION]->(:Iteration)-[:FOUND]->(:Evidence)-[:CITES]->(n:Sentence)
               -[:SENTENCE_OF]->(cited:Span)
         WHERE cited.node_id = s.node_id
         RETURN n.text ORDER BY n.index
       } AS sentences,
       COLLECT {
         MATCH (v)-[:ERROR_PROPAGATED_THROUGH]->(p:Span)
         RETURN p.node_id ORDER BY p.node_id = v.node_id, p.stage, p.position
       } AS propagated_through,
       CASE WHEN error IS NOT NULL THEN coalesce(error.located_by, 'verdicts') END AS located_by,
       type(error) = 'ERROR_OFFERED_AT' AS offered, error.source AS source, error.wrote AS wrote,
       v.status AS status
ORDER BY s.stage, s.position
