// purpose: Verifications whose id begins with some letters, in the order of their ids.
// param prefix: string - the letters
// param limit: integer - at most this many
// column verification_id: string - the verification
// source: ours
MATCH (v:Verification)
WHERE v.verification_id STARTS WITH $prefix
WITH v WHERE v.method = 'veritrail'  // apart: else the embedded engine reads all
RETURN v.verification_id AS verification_id
ORDER BY v.verification_id
LIMIT $limit
