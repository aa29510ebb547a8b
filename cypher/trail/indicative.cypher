// purpose: Verifications of a process that no model judged: verdicts that are indicative only, and none.
// param process_id: string - the process
// param claim_id: string - only those of this claim, or null
// column in_force: integer - claims whose verification in force is among them
// column verification_ids: list - a list of their ids for each claim
// source: ours
MATCH (c:Claim {process_id: $process_id})
      <-[:VERIFIES]-(v:Verification {method: 'veritrail'})
WHERE v.status IN ['succeeded', 'undecided']
  AND (c.claim_id = $claim_id OR ($claim_id IS NULL AND c.origin IS NULL))
WITH c, v ORDER BY v.created_at DESC, v.verification_id DESC
WITH c, collect(CASE WHEN v.indicative THEN v.verification_id END) AS ids
RETURN sum(CASE WHEN EXISTS { (c)-[:IN_FORCE]->(f:Verification {indicative: true}) WHERE f.status IN ['succeeded', 'undecided'] } THEN 1 ELSE 0 END)
         AS in_force,
       collect(ids) AS verification_ids
