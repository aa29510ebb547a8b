// purpose: Label claims for evaluation; no verdict is changed.
// param process_id: string - the process
// param rows: list - {claim_id, label}; a label that is null takes the label away
// column claim_id: string - a claim that is stored
// source: ours
UNWIND $rows AS row
MATCH (c:Claim {process_id: $process_id, claim_id: row.claim_id})
SET c.label = row.label
RETURN c.claim_id AS claim_id
