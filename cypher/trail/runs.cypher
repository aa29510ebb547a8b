// purpose: Runs of a process, with the number of their verifications by status.
// param process_id: string - the process
// column run_id: string - the run
// column status: string - a status
// column verifications: integer - how many of its verifications have it
// column created_at: string - when the first of them was made
// column engine: string - the engine of judgement
// column model: string - the model, or null
// source: ours
MATCH (v:Verification {process_id: $process_id, method: 'veritrail'})
WHERE v.run_id IS NOT NULL
RETURN v.run_id AS run_id, v.status AS status, count(v) AS verifications,
       min(v.created_at) AS created_at, min(v.engine) AS engine, min(v.model) AS model
ORDER BY run_id, status
