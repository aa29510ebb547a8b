// purpose: A claim_id names one claim of a process.
// source: ours
CREATE CONSTRAINT veritrail_claim_key IF NOT EXISTS
FOR (c:Claim) REQUIRE (c.process_id, c.claim_id) IS UNIQUE
