// purpose: Claims of processes by verdict, and the cost of their verifications.
// param process_ids: list - the processes
// column process_id: string - the process; none that is not ready
// column outcome: string - verdict of the verification in force of a claim, undecided where it has none, else the status of the latest one of its text, else undecided where the check of its turn could not tell, else none
// column claims: integer - number of claims of which it is true; 0 where there are no claims
// column cost_usd: float - what is known of the cost of all their verifications
// column priced: integer - how many verifications have a cost
// column calls: integer - answers that models gave
// column unpriced_calls: integer - those of them whose price is not known
// column modelled: integer - verifications that a model judges, whatever their status
// column unmetered: integer - those of them that have a verdict and do not say what it took
// column changed_at: string - when the latest verification was made, or null
// column verified: integer - verifications of claims of the answer, not of questions
// column of_turns: integer - claims whose text was never verified, and that have a category as claims of a dialogue's turns
// column indicative: integer - claims of the answer whose verdict in force no model gave
// source: VeriTrail 2 (the three verdicts)
UNWIND $process_ids AS process_id
MATCH (p:Process {process_id: process_id})
WHERE p.status = 'ready'
OPTIONAL MATCH (c:Claim {process_id: process_id})
OPTIONAL MATCH (c)<-[:VERIFIES]-(v:Verification {method: 'veritrail'})
WITH process_id, c, v
ORDER BY v.created_at, v.verification_id
WITH process_id, c,
     collect(CASE WHEN v.claim IN [c.text, c.text + '.'] OR c.text = v.claim + '.' THEN v.status END) AS statuses,
     sum(v.cost_usd) AS cost, count(v.cost_usd) AS priced,
     sum(v.calls) AS calls, sum(v.unpriced_calls) AS unpriced,
     sum(CASE WHEN v.indicative = false THEN 1 ELSE 0 END) AS modelled,
     sum(CASE WHEN v.indicative = false AND v.status = 'succeeded' AND v.cost_usd IS NULL
              AND coalesce(v.calls, 0) + coalesce(v.cached_calls, 0) = 0
              THEN 1 ELSE 0 END) AS unmetered,
     max(v.created_at) AS changed_at,
     sum(CASE WHEN c.origin IS NULL AND v IS NOT NULL THEN 1 ELSE 0 END) AS verified
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)
RETURN process_id, coalesce(v.verdict, v.status, statuses[-1], c.turn_status, 'none') AS outcome,
       sum(CASE WHEN c.claim_id IS NULL OR c.origin IS NOT NULL THEN 0 ELSE 1 END) AS claims,
       sum(cost) AS cost_usd, sum(priced) AS priced, sum(calls) AS calls,
       sum(unpriced) AS unpriced_calls, sum(modelled) AS modelled,
       sum(unmetered) AS unmetered, max(changed_at) AS changed_at,
       sum(verified) AS verified,
       sum(CASE WHEN c.category IS NOT NULL AND c.origin IS NULL AND size(statuses) = 0
           THEN 1 ELSE 0 END) AS of_turns,
       sum(CASE WHEN c.origin IS NULL AND v.indicative AND v.verdict IS NOT NULL
           THEN 1 ELSE 0 END) AS indicative
