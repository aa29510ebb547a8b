// purpose: What claim extraction left is found by process.
// source: ours
CREATE INDEX veritrail_extraction_process IF NOT EXISTS
FOR (x:Extraction) ON (x.process_id)
