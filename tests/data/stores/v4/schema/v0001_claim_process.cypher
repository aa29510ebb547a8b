// purpose: Claims are found by process.
// source: ours
CREATE INDEX veritrail_claim_process IF NOT EXISTS
FOR (c:Claim) ON (c.process_id)
