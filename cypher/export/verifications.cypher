// purpose: Verifications as they are stored, without what hangs on them.
// param verification_ids: list - the verifications
// column properties: map - properties of the verification
// source: VeriTrail 3.2
UNWIND $verification_ids AS verification_id
MATCH (v:Verification {verification_id: verification_id})
RETURN properties(v) AS properties
ORDER BY v.created_at, v.verification_id
