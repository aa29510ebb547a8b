// purpose: Write verifications that are still to be made; what is stored under an id stays.
// param process_id: string - the process; it must be ready
// param content_hash: string - the content that is to be verified, or null where it is not known
// param rows: list - properties of each verification, with its place in the run
// column claim_id: string - a claim that is there
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready' AND ($content_hash IS NULL OR p.content_hash = $content_hash)
UNWIND $rows AS row
MATCH (c:Claim {process_id: $process_id, claim_id: row.claim_id})
MERGE (v:Verification {verification_id: row.verification_id})
ON CREATE SET v = row
MERGE (v)-[:VERIFIES]->(c)
RETURN row.claim_id AS claim_id
