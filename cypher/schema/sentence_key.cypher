// purpose: A number names one sentence of a span.
// source: ours
CREATE CONSTRAINT veritrail_sentence_key IF NOT EXISTS
FOR (s:Sentence) REQUIRE (s.process_id, s.node_id, s.index) IS UNIQUE
