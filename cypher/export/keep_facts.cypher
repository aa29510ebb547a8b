// purpose: Give restored verifications the place in their run and the content that they were about.
// param rows: list - [verification_id, place, content_hash]
// source: ours
UNWIND $rows AS row
MATCH (v:Verification {verification_id: row[0]})
SET v.place = row[1], v.content_hash = row[2]
