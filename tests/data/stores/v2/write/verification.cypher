// purpose: Write a verification, without what hangs on it, and say whether it was there before.
// param process_id: string - the process; it must be ready
// param content_hash: string - the content that was verified, or null where it is not known
// param claim_id: string - the claim that it verifies
// param verification_id: string - the verification
// param properties: map - its other properties
// column existed: boolean - whether it was written before
// source: VeriTrail 3.2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready' AND ($content_hash IS NULL OR p.content_hash = $content_hash)
MATCH (c:Claim {process_id: $process_id, claim_id: $claim_id})
OPTIONAL MATCH (old:Verification {verification_id: $verification_id})
WITH c, old IS NOT NULL AS existed, old.place AS place
MERGE (v:Verification {verification_id: $verification_id})
SET v = $properties
SET v.place = place
MERGE (v)-[:VERIFIES]->(c)
RETURN existed
