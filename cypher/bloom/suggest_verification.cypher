// purpose: Bloom, suggestions for $verification: ids, the latest first.
// column verification: string - what to put in for $verification
// source: ours
MATCH (v:Verification)
WHERE v.created_at >= '' AND v.method = 'veritrail'
MATCH (p:Process {process_id: v.process_id})
WHERE p.status = 'ready'
RETURN v.verification_id AS verification
ORDER BY v.created_at DESC, verification
LIMIT 1000
