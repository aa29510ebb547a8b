// purpose: Claims of processes, and how their latest finished verification ended.
// param process_ids: list - the processes
// column process_id: string - the process
// column verdict: string - verdict of the latest succeeded verification, or null
// column claims: integer - number of claims of which it is true
// source: ours
UNWIND $process_ids AS process_id
MATCH (c:Claim {process_id: process_id})
OPTIONAL MATCH (c)<-[:VERIFIES]-(v:Verification {status: 'succeeded'})
WITH process_id, c, v
ORDER BY v.created_at, v.verification_id
WITH process_id, c, collect(v.verdict) AS verdicts
RETURN process_id, verdicts[-1] AS verdict, count(c) AS claims
