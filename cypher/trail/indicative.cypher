// purpose: Verifications of a process whose verdicts are indicative only.
// param process_id: string - the process
// param claim_id: string - only those of this claim, or null
// column latest: integer - claims whose latest succeeded verification is among them
// column verification_ids: list - a list of their ids for each claim
// source: ours
MATCH (c:Claim {process_id: $process_id})<-[:VERIFIES]-(v:Verification {status: 'succeeded'})
WHERE $claim_id IS NULL OR c.claim_id = $claim_id
WITH c, v ORDER BY v.created_at DESC, v.verification_id DESC
WITH c, collect(v) AS each
WITH each[0].indicative AS is_latest, [v IN each WHERE v.indicative | v.verification_id] AS ids
RETURN count(CASE WHEN is_latest THEN 1 END) AS latest, collect(ids) AS verification_ids
