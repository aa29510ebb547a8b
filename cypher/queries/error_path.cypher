// purpose: Error path of a claim: the nodes where unsupported content entered, and those that only passed it on.
// param process_id: string - the process
// param claim_id: string - the claim
// param verification_id: string = null - the verification; the claim's one in force when null
// column verification_id: string - the verification
// column part: string - introduced, or carried_on
// column node_id: string - the node
// column stage: integer - its stage
// column kind: string - what it is
// column step: string - the step that produced it
// column model: string - the model that produced it
// column prompt: string - the prompt that produced it
// column inherits_from: list - node_ids of the nodes of this path that it was made from
// column sentences: list - its sentences that the verification cites
// column text: string - the first 200 characters of its text
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
MATCH (v)-[error:ERROR_INTRODUCED_AT|ERROR_PROPAGATED_THROUGH]->(s:Span)
WITH v, s, min(type(error)) AS type ORDER BY s.stage, s.position
WITH v, collect(s) AS nodes, collect(type) AS types
UNWIND range(0, size(nodes) - 1) AS place
WITH v, nodes, nodes[place] AS s, types[place] AS type, place
RETURN v.verification_id AS verification_id,
       CASE type WHEN 'ERROR_INTRODUCED_AT' THEN 'introduced' ELSE 'carried_on' END AS part,
       s.node_id AS node_id, s.stage AS stage, s.kind AS kind, s.step AS step, s.model AS model,
       s.prompt AS prompt,
       [u IN nodes WHERE u <> s AND (
         EXISTS { MATCH (u)-[:INPUT_TO]->(s) }
         OR EXISTS {
           MATCH (u)<-[:AT]-(t:TrailNode {verification_id: v.verification_id})-[:LEADS_TO]->(w)
           WHERE w.node_id = s.node_id
         }
       ) | u.node_id] AS inherits_from,
       COLLECT {
         MATCH (v)-[:HAS_ITERATION]->(:Iteration)-[:FOUND]->(:Evidence)-[:CITES]->(n:Sentence)
               -[:SENTENCE_OF]->(cited:Span)
         WHERE cited.node_id = s.node_id
         WITH n.index AS index, n.text AS text ORDER BY index
         RETURN text
       } AS sentences,
       left(s.text, 200) AS text
ORDER BY place
