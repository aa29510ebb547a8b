// purpose: Verifications that keep the verdict of an earlier version, with the reason.
// param process_id: string - the process
// param limit: integer = 1000 in 1..10000 - at most this many
// column verification_id: string - the verification
// column claim_id: string - the claim
// column claim: string - its text
// column verdict: string - the verdict that was kept
// column reused_from: string - the earlier verification
// column is_stored: boolean - whether that one is stored still
// column earlier_process: string - the process that it is stored under
// column reason: string - why the verdict was kept
// column saved_calls: integer - answers of models that were not asked for
// example: process_id=harbour-summary
// group: Claims and verdicts
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (v:Verification {process_id: $process_id, method: 'veritrail'})
WHERE v.reused_from IS NOT NULL
OPTIONAL MATCH (v)-[:REUSED_FROM]->(earlier:Verification)
RETURN v.verification_id AS verification_id, v.claim_id AS claim_id, v.claim AS claim,
       v.verdict AS verdict, v.reused_from AS reused_from, earlier IS NOT NULL AS is_stored,
       earlier.process_id AS earlier_process, v.reuse_reason AS reason,
       v.saved_calls AS saved_calls
ORDER BY claim_id, verification_id
LIMIT $limit
