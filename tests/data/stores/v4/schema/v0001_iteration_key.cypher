// purpose: A number names one iteration of a verification.
// source: ours
CREATE CONSTRAINT veritrail_iteration_key IF NOT EXISTS
FOR (i:Iteration) REQUIRE (i.verification_id, i.number) IS UNIQUE
