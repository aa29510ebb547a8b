// purpose: Which of some verifications are in force, with their claims.
// param verification_ids: list - the verifications
// column claim_id: string - the claim
// column verification_id: string - the verification that counts for it
// source: ours
UNWIND $verification_ids AS verification_id
MATCH (c:Claim)-[:IN_FORCE]->(v:Verification {verification_id: verification_id})
RETURN c.claim_id AS claim_id, v.verification_id AS verification_id
ORDER BY verification_id
