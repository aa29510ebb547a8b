// purpose: The contents on which verifications of a process succeeded, each with its newest one.
// param process_id: string - the process
// column content_hash: string - a content
// column verified_at: string - when the newest verification of it was made
// source: ours
MATCH (v:Verification {process_id: $process_id, method: 'veritrail'})
WHERE v.status = 'succeeded' AND v.content_hash IS NOT NULL
RETURN v.content_hash AS content_hash, max(v.created_at) AS verified_at
ORDER BY verified_at, content_hash
