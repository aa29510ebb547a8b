// purpose: One claim of a process that is ready, with how it was judged.
// param process_id: string - the process
// param claim_id: string - the claim
// column claim: map - properties of the claim
// column verification: map - properties of its latest succeeded verification, or null
// column verifications: integer - how many verifications it has, whatever their status
// column latest: list - [status, failure] of its latest verification, or null
// source: VeriTrail 3.2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id, claim_id: $claim_id})
OPTIONAL MATCH (c)<-[:VERIFIES]-(v:Verification)
WITH c, v ORDER BY v.created_at DESC, v.verification_id DESC
WITH c, count(v) AS verifications, head(collect(v)) AS latest,
     head([x IN collect(v) WHERE x.status = 'succeeded']) AS v
RETURN properties(c) AS claim, properties(v) AS verification, verifications,
       CASE WHEN latest IS NOT NULL THEN [latest.status, latest.failure] END AS latest
