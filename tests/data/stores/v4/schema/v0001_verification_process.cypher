// purpose: Verifications are found by process.
// source: ours
CREATE INDEX veritrail_verification_process IF NOT EXISTS
FOR (v:Verification) ON (v.process_id)
