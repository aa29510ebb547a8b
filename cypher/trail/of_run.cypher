// purpose: Verifications of a run, in the order of their places.
// param run_id: string - the run
// param process_id: string - its process, or null to look at those of all
// column verification_id: string - the verification
// source: ours
MATCH (p:Process)
WHERE p.status = 'ready' AND ($process_id IS NULL OR p.process_id = $process_id)
MATCH (v:Verification {process_id: p.process_id, method: 'veritrail'})
WHERE v.run_id = $run_id
RETURN v.verification_id AS verification_id
ORDER BY coalesce(v.place, 2147483647), v.created_at, v.verification_id
