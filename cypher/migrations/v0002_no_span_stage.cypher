// purpose: Drop an index of the first version that nobody reads and every ingest would pay for.
// source: ours
DROP INDEX veritrail_span_stage IF EXISTS
