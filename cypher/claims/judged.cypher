// purpose: Claims of a process that is ready, with their verdicts and how their latest verifications ended.
// param process_id: string - the process
// param claim_ids: list - the claims; those that are not stored are left out
// column claim: map - properties of the claim
// column verification: map - properties of its latest succeeded verification, or null
// column verifications: integer - how many verifications it has, whatever their status
// column latest: list - [status, error] of its latest verification, or null
// source: VeriTrail 3.2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
UNWIND $claim_ids AS claim_id
MATCH (c:Claim {process_id: $process_id, claim_id: claim_id})
OPTIONAL MATCH (c)<-[:VERIFIES]-(v:Verification)
WITH c, v ORDER BY v.created_at DESC, v.verification_id DESC
WITH c, collect(v) AS every
WITH c, size(every) AS verifications, head(every) AS latest,
     head([x IN every WHERE x.status = 'succeeded']) AS v
RETURN properties(c) AS claim, properties(v) AS verification, verifications,
       CASE WHEN latest IS NULL THEN null ELSE [latest.status, latest.error] END AS latest
