// purpose: Claims of processes, and the verdicts of their verifications in force.
// param process_ids: list - the processes
// column process_id: string - the process
// column verdict: string - verdict of the verification in force; undecided: it could not be decided; or null
// column claims: integer - number of claims of which it is true
// column indicative: integer - those of them whose verdict no language model gave
// source: ours
UNWIND $process_ids AS process_id
MATCH (c:Claim {process_id: process_id})
WHERE c.origin IS NULL
OPTIONAL MATCH (c)<-[:VERIFIES]-(x:Verification {method: 'veritrail'})
WHERE x.claim IN [c.text, c.text + '.'] OR c.text = x.claim + '.'
WITH process_id, c, x
ORDER BY x.created_at, x.verification_id
WITH process_id, c, collect(x.status) AS statuses
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)
RETURN process_id,
       coalesce(v.verdict, v.status, CASE coalesce(statuses[-1], c.turn_status) WHEN 'undecided' THEN 'undecided' END) AS verdict,
       count(c) AS claims, sum(CASE WHEN v.indicative AND v.verdict IS NOT NULL THEN 1 ELSE 0 END) AS indicative
