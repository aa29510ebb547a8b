// purpose: Make the index that finds the reviews of a process.
// source: ours
CREATE INDEX veritrail_review_process IF NOT EXISTS
FOR (r:Review) ON (r.process_id)
