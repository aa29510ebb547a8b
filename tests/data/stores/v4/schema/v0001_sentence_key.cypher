// purpose: A number and a place in the text name one sentence of a span.
// source: ours
CREATE CONSTRAINT veritrail_sentence_key IF NOT EXISTS
FOR (s:Sentence) REQUIRE (s.process_id, s.node_id, s.index, s.start, s.end) IS UNIQUE
