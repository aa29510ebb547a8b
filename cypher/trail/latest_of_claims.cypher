// purpose: The verification that was made last, those of dialogues left out; the embedded engine looks at all.
// column verification_id: string - the verification
// column run_id: string - its run
// source: ours
MATCH (v:Verification)
WHERE v.created_at >= '' AND v.method = 'veritrail'
RETURN v.verification_id AS verification_id, v.run_id AS run_id
ORDER BY v.created_at DESC, v.verification_id DESC
LIMIT 1
