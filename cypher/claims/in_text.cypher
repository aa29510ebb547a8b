// purpose: Claims about a node that are in a part of its text, or whose place is not known, with how each was judged.
// param process_id: string - the process
// param node_id: string - the node
// param start: integer - where the part begins, in code points
// param end: integer - the offset just behind it
// param limit: integer - the most claims
// column claim_id: string - the claim
// column text: string - what it says; where its place is known, only the beginning
// column start: integer - where it begins in the text; null: not known
// column end: integer - the offset just behind it
// column also: list - further places: start and end of each in turn; or null
// column position: integer - its place among the claims of the process
// column verdict: string - that of its verification in force, or null
// column indicative: boolean - whether no model judged, or null
// column error_stages: list - where an error came in, or null
// column status: string - undecided, where that is in force, else the status of the latest verification of its text; or null
// column error: string - why that one has no verdict, or null
// column category: string - that of a claim of a dialogue's turn, or null
// column turn_status: string - undecided, where that is what counts for it as a claim of a turn, or null
// source: VeriTrail 3.2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id})
WHERE c.origin IS NULL AND c.node_id = $node_id AND (
  c.start IS NULL
  OR (c.start < $end AND c.end > $start)
  OR any(n IN range(0, size(coalesce(c.also, [])) - 1, 2)
         WHERE c.also[n] < $end AND c.also[n + 1] > $start)
)
WITH c ORDER BY c.position, c.claim_id LIMIT $limit
OPTIONAL MATCH (c)<-[:VERIFIES]-(x:Verification {method: 'veritrail'})
WITH c, x ORDER BY x.created_at DESC, x.verification_id DESC
WITH c, head(collect(CASE WHEN x.claim IN [c.text, c.text + '.'] OR c.text = x.claim + '.' THEN x END)) AS latest
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)
RETURN c.claim_id AS claim_id,
       CASE WHEN c.start IS NULL THEN c.text ELSE left(c.text, 300) END AS text,
       c.start AS start, c.end AS end, c.also AS also, c.position AS position,
       v.verdict AS verdict, v.indicative AS indicative, v.error_stages AS error_stages,
       CASE WHEN v.status = 'undecided' THEN v.status ELSE latest.status END AS status,
       CASE WHEN v.status = 'undecided' THEN v.error ELSE latest.error END AS error, c.category AS category,
       c.turn_status AS turn_status
ORDER BY position, claim_id
