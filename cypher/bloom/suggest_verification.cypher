// purpose: Bloom, suggestions for $verification: ids, the latest first.
// column verification: string - what to put in for $verification
// source: ours
MATCH (p:Process {status: 'ready'})
MATCH (v:Verification {process_id: p.process_id, method: 'veritrail'})
RETURN v.verification_id AS verification
ORDER BY v.created_at DESC, verification
LIMIT 1000
