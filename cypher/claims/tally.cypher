// purpose: Number of claims of a process, by the verdict of their verification in force and who gave it, or else by undecided, failed or unchecked.
// param process_id: string - the process
// column state: string - the verdict; undecided; failed: without one, where the latest verification of its text ended so; unchecked
// column of_turn: boolean - whether it is unchecked, and has a category as a claim of a dialogue's turn
// column error_stages: list - where an error came in
// column indicative: boolean - whether it has a verdict that no model gave
// column engine: string - the one that gave the verdict, or null
// column model: string - its model, or null
// column q: integer - its q, or null
// column latest_at: string - when the latest of them was made, or null
// column claims: integer - how many claims have it
// source: VeriTrail 3.2
MATCH (c:Claim {process_id: $process_id})
WHERE c.origin IS NULL
OPTIONAL MATCH (c)<-[:VERIFIES]-(x:Verification {method: 'veritrail'})
WITH c, x ORDER BY x.created_at DESC, x.verification_id DESC
WITH c, head(collect(CASE WHEN x.claim IN [c.text, c.text + '.'] OR c.text = x.claim + '.' THEN x END)) AS latest
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)
WITH CASE
       WHEN v.verdict IS NOT NULL THEN v.verdict
       WHEN coalesce(v.status, latest.status, c.turn_status) = 'undecided' THEN 'undecided'
       WHEN latest.status IN ['failed', 'over_budget', 'cancelled'] THEN 'failed'
       ELSE 'unchecked'
     END AS state,
     v IS NULL AND latest IS NULL AND c.category IS NOT NULL AS of_turn,
     coalesce(v.error_stages, []) AS error_stages,
     v.verdict IS NOT NULL AND coalesce(v.indicative, false) AS indicative,
     CASE WHEN v.verdict IS NOT NULL THEN v.engine END AS engine,
     CASE WHEN v.verdict IS NOT NULL THEN v.model END AS model,
     CASE WHEN v.verdict IS NOT NULL THEN v.q END AS q,
     CASE WHEN v.verdict IS NOT NULL THEN v.created_at END AS created_at
RETURN state, of_turn, error_stages, indicative, engine, model, q, max(created_at) AS latest_at,
       count(*) AS claims
ORDER BY state, of_turn, error_stages, indicative, engine, model, q
