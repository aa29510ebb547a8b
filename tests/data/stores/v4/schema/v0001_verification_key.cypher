// purpose: A verification_id names one verification.
// source: ours
CREATE CONSTRAINT veritrail_verification_key IF NOT EXISTS
FOR (v:Verification) REQUIRE v.verification_id IS UNIQUE
