// purpose: The latest verifications of one claim, newest first, whatever their status.
// param process_id: string - the process
// param claim_id: string - the claim
// param limit: integer - the most rows
// column verification_id: string - the verification
// source: VeriTrail 3.2
MATCH (c:Claim {process_id: $process_id, claim_id: $claim_id})
      <-[:VERIFIES]-(v:Verification {method: 'veritrail'})
RETURN v.verification_id AS verification_id
ORDER BY v.created_at DESC, v.verification_id DESC
LIMIT $limit
