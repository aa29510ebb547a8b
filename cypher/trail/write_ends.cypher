// purpose: Write how verifications ended that were not made; one that has a verdict or is undecided stays.
// param process_id: string - the process; it must be ready
// param content_hash: string - the content that was to be verified, or null where it is not known
// param rows: list - properties of each verification
// column verification_id: string - a verification whose claim is there
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready' AND ($content_hash IS NULL OR p.content_hash = $content_hash)
UNWIND $rows AS row
MATCH (c:Claim {process_id: $process_id, claim_id: row.claim_id})
MERGE (v:Verification {verification_id: row.verification_id})
ON CREATE SET v = row
SET v.status = CASE WHEN v.status IN ['succeeded', 'undecided'] THEN v.status ELSE row.status END,
    v.error = CASE WHEN v.status IN ['succeeded', 'undecided'] THEN v.error ELSE row.error END,
    v.caption = CASE WHEN v.status IN ['succeeded', 'undecided'] THEN v.caption ELSE row.caption END
MERGE (v)-[:VERIFIES]->(c)
RETURN v.verification_id AS verification_id
