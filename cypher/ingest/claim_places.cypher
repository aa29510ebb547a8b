// purpose: Say where stored claims are stated; their texts stay as they are.
// param process_id: string - the process
// param rows: list - {claim_id, start, end, also}
// source: VeriTrail 3.1 (Claimify: each claim comes from a sentence)
UNWIND $rows AS row
MATCH (c:Claim {process_id: $process_id, claim_id: row.claim_id})
SET c.start = row.start, c.end = row.end, c.also = row.also
