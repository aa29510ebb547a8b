// purpose: Which of these verifications are stored, of whatever process.
// param verification_ids: list - the verifications
// column verification_id: string - a verification that is stored
// column process_id: string - its process
// column status: string - its status
// column place: integer - its place in its run, or null
// column content_hash: string - the content that was verified, or null
// source: ours
UNWIND $verification_ids AS verification_id
MATCH (v:Verification {verification_id: verification_id})
RETURN verification_id, v.process_id AS process_id, v.status AS status, v.place AS place,
       v.content_hash AS content_hash
