// purpose: Sentences that support most claims, by each claim's verification in force.
// param process_id: string - the process
// param role: string = null in root|intermediate|terminal|unsourced - only sentences of such nodes
// param limit: integer = 100 in 1..10000 - at most this many
// column node_id: string - the node
// column stage: integer - its stage
// column role: string - root, intermediate, terminal or unsourced
// column sentence: integer - the sentence's number in the node, counted from 0
// column text: string - the sentence
// column claims: integer - claims whose verification cites it
// column supported: integer - those of them that are fully supported
// group: What rests on what
// example: process_id=harbour-summary
// source: VeriTrail 3.2 (evidence trail)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id})-[:IN_FORCE]->(v:Verification)
WHERE c.origin IS NULL
WITH c, v
MATCH (v)-[:HAS_ITERATION]->(:Iteration)-[:FOUND]->(:Evidence)-[:CITES]->(n:Sentence)
      -[:SENTENCE_OF]->(s:Span)
WHERE $role IS NULL OR s.role = $role
WITH s, n, collect(DISTINCT v) AS citing
WITH s, n, size(citing) AS claims, size([v IN citing WHERE v.verdict = 'FULLY_SUPPORTED']) AS supported
ORDER BY claims DESC, supported DESC, s.stage, s.position, n.index LIMIT $limit
RETURN s.node_id AS node_id, s.stage AS stage, s.role AS role, n.index AS sentence,
       n.text AS text, claims, supported
ORDER BY claims DESC, supported DESC, s.stage, s.position, n.index
