// purpose: Spans are found by process and stage.
// source: ours
CREATE INDEX veritrail_span_stage IF NOT EXISTS
FOR (s:Span) ON (s.process_id, s.stage)
