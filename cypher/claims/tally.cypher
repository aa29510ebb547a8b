// purpose: Number of claims of a process, by the verdict of their verification in force, or else undecided, failed or unchecked.
// param process_id: string - the process
// column state: string - the verdict; undecided, failed: without one, where the latest verification ended so; unchecked
// column error_stages: list - where an error came in
// column indicative: boolean - whether no model judged
// column claims: integer - how many claims have it
// source: VeriTrail 3.2
MATCH (c:Claim {process_id: $process_id})
WHERE c.origin IS NULL
OPTIONAL MATCH (c)<-[:VERIFIES]-(x:Verification {method: 'veritrail'})
WITH c, x ORDER BY x.created_at DESC, x.verification_id DESC
WITH c, head(collect(x)) AS latest
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)
WITH CASE
       WHEN v IS NOT NULL THEN v.verdict
       WHEN latest.status = 'undecided' THEN 'undecided'
       WHEN latest.status IN ['failed', 'over_budget', 'cancelled'] THEN 'failed'
       ELSE 'unchecked'
     END AS state,
     coalesce(v.error_stages, []) AS error_stages, coalesce(v.indicative, false) AS indicative
RETURN state, error_stages, indicative, count(*) AS claims
ORDER BY state, error_stages, indicative
