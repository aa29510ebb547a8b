// purpose: Claims of processes, and how their latest finished verification ended.
// param process_ids: list - the processes
// column process_id: string - the process
// column verdict: string - verdict of the latest succeeded verification; undecided: there is none and the latest verification is; or null
// column claims: integer - number of claims of which it is true
// column indicative: integer - those of them whose verdict no language model gave
// source: ours
UNWIND $process_ids AS process_id
MATCH (c:Claim {process_id: process_id})
OPTIONAL MATCH (c)<-[:VERIFIES]-(v:Verification)
WITH process_id, c, v
ORDER BY v.created_at, v.verification_id
WITH process_id, c, collect(v.verdict) AS verdicts, collect(v.status) AS statuses,
     collect(CASE WHEN v.verdict IS NOT NULL THEN v.indicative END) AS indicative
RETURN process_id,
       coalesce(verdicts[-1], CASE statuses[-1] WHEN 'undecided' THEN 'undecided' END) AS verdict,
       count(c) AS claims, sum(CASE WHEN indicative[-1] THEN 1 ELSE 0 END) AS indicative
