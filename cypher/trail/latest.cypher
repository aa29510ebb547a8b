// purpose: The verification that was made last; no row where that is one of a dialogue.
// column verification_id: string - the verification
// column run_id: string - its run
// source: ours
CALL () {  // the index gives the last moment alone; with a condition beside it everything is read
  MATCH (v:Verification)
  WHERE v.created_at >= ''
  RETURN max(v.created_at) AS last
}
MATCH (v:Verification)
WHERE v.created_at = last AND v.method = 'veritrail'
RETURN v.verification_id AS verification_id, v.run_id AS run_id
ORDER BY v.verification_id DESC
LIMIT 1
