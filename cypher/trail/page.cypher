// purpose: A page of the verifications of a process, newest first.
// param process_id: string - the process
// param before: string - created_at and verification_id of the last one before; empty at first
// param limit: integer - at most this many
// column verification_id: string - the verification
// column sort_key: string - created_at and verification_id
// source: ours
MATCH (v:Verification {process_id: $process_id, method: 'veritrail'})
WITH v, v.created_at + ' ' + v.verification_id AS sort_key
WHERE $before = '' OR sort_key < $before
RETURN v.verification_id AS verification_id, sort_key
ORDER BY sort_key DESC
LIMIT $limit
