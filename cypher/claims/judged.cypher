// purpose: Claims of a process that is ready, with their verdicts and how their latest verifications ended.
// param process_id: string - the process
// param claim_ids: list - the claims; those that are not stored are left out
// column claim: map - properties of the claim
// column verification: map - properties of its verification in force, or null
// column verifications: integer - how many verifications it has, whatever their status
// column latest: list - [status, error] of the latest verification of its text, or null
// source: VeriTrail 3.2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
UNWIND $claim_ids AS claim_id
MATCH (c:Claim {process_id: $process_id, claim_id: claim_id})
OPTIONAL MATCH (c)<-[:VERIFIES]-(x:Verification {method: 'veritrail'})
WITH c, x ORDER BY x.created_at DESC, x.verification_id DESC
WITH c, count(x) AS verifications,
     head(collect(CASE WHEN x.claim IN [c.text, c.text + '.'] OR c.text = x.claim + '.' THEN x END)) AS latest
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)
RETURN properties(c) AS claim, properties(v) AS verification, verifications,
       CASE WHEN latest IS NULL THEN null ELSE [latest.status, latest.error] END AS latest
