// purpose: A process_id names one process.
// source: ours
CREATE CONSTRAINT veritrail_process_key IF NOT EXISTS
FOR (p:Process) REQUIRE p.process_id IS UNIQUE
