// purpose: An evidence_id names one piece of evidence.
// source: ours
CREATE CONSTRAINT veritrail_evidence_key IF NOT EXISTS
FOR (e:Evidence) REQUIRE e.evidence_id IS UNIQUE
