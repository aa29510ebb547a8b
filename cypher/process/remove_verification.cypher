// purpose: Remove a verification, after its trail.
// param verification_id: string - the verification
// source: ours
MATCH (v:Verification {verification_id: $verification_id})
DETACH DELETE v
