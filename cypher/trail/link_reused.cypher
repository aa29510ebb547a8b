// purpose: Link verifications to the earlier ones whose verdicts they keep, as far as these are stored.
// param rows: list - [verification_id, verification_id of the earlier one]
// source: ours
UNWIND $rows AS row
MATCH (v:Verification)
WHERE v.verification_id = row[0]
MATCH (earlier:Verification)
WHERE earlier.verification_id = row[1]
MERGE (v)-[:REUSED_FROM]->(earlier)
