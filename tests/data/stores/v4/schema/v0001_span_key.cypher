// purpose: A node_id names one span of a process.
// source: ours
CREATE CONSTRAINT veritrail_span_key IF NOT EXISTS
FOR (s:Span) REQUIRE (s.process_id, s.node_id) IS UNIQUE
