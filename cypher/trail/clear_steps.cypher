// purpose: Take back the steps of a verification that is written again.
// param verification_id: string - the verification
// source: ours
MATCH (v:Verification {verification_id: $verification_id})-[:TOOK]->(s:Step)
DETACH DELETE s
