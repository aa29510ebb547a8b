// purpose: Check for claims of a process whose place in the text is wrong.
// param process_id: string - the process
// param limit: integer = 100 in 1..10000 - at most this many
// column claim_id: string - the claim
// column node_id: string - the node that it names
// column problem: string - what is wrong
// group: Integrity: no rows on a sound graph
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id})
WITH c, COLLECT { MATCH (c)-[:EXTRACTED_FROM]->(s:Span) RETURN s } AS spans
WITH c, CASE
       WHEN size(spans) = 0 THEN 'is not extracted from any span'
       WHEN size(spans) > 1 THEN 'is extracted from several spans'
       WHEN spans[0].process_id <> c.process_id THEN 'is extracted from another process'
       WHEN spans[0].node_id <> c.node_id THEN 'is extracted from another node'
       WHEN spans[0].role = 'root' THEN 'is extracted from a root node'
       WHEN c.start IS NOT NULL AND (c.end IS NULL OR c.end > size(spans[0].text))
         THEN 'ends behind the end of the text'
     END AS problem
WHERE problem IS NOT NULL
RETURN c.claim_id AS claim_id, c.node_id AS node_id, problem
ORDER BY c.position, c.claim_id
LIMIT $limit
