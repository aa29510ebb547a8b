// purpose: Runs whose id begins with some letters, in the order of their ids.
// param prefix: string - the letters
// param limit: integer - at most this many
// column run_id: string - the run
// source: ours
MATCH (v:Verification)
WHERE v.run_id STARTS WITH $prefix
WITH v WHERE v.method = 'veritrail'  // apart: else the embedded engine reads all
RETURN DISTINCT v.run_id AS run_id
ORDER BY run_id
LIMIT $limit
