// purpose: Coverage of the source text: how many claims rest on each root node, and which root nodes are never evidence.
// param process_id: string - the process
// param used: boolean = null - only root nodes that are evidence (true), or that never are (false)
// param limit: integer = 100 in 1..10000 - at most this many
// column node_id: string - a root node
// column kind: string - what it is
// column sentences: integer - different sentences of it that are cited
// column claims: integer - claims whose verification in force cites it
// column share: float - their share of all claims with such a verification; null when there is none
// column text: string - the first 200 characters of its text
// group: What rests on what
// example: process_id=harbour-summary
// source: VeriTrail 2 (root nodes), 3.2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
OPTIONAL MATCH (c:Claim {process_id: $process_id})-[:IN_FORCE]->(v:Verification)
WHERE c.origin IS NULL
WITH p, c, v.verification_id AS verification_id
WITH p, collect(verification_id) AS latest
MATCH (s:Span)
WHERE s.process_id = p.process_id AND s.node_id >= '' AND s.role = 'root'
OPTIONAL MATCH (s)<-[:SENTENCE_OF]-(n:Sentence)<-[:CITES]-(:Evidence)<-[:FOUND]-(i:Iteration)
WHERE i.verification_id IN latest
WITH s, size(latest) AS total, count(DISTINCT n) AS sentences,
     count(DISTINCT i.verification_id) AS claims
WHERE $used IS NULL OR $used = (claims > 0)
WITH s, total, sentences, claims ORDER BY claims DESC, sentences DESC, s.stage, s.position
LIMIT $limit
RETURN s.node_id AS node_id, s.kind AS kind, sentences, claims,
       CASE WHEN total > 0 THEN toFloat(claims) / total END AS share, left(s.text, 200) AS text
ORDER BY claims DESC, sentences DESC, s.stage, s.position
