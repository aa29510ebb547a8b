// purpose: Sentences are found by process.
// source: ours
CREATE INDEX veritrail_sentence_process IF NOT EXISTS
FOR (s:Sentence) ON (s.process_id)
