// purpose: A place among the sentences of a node names what claim extraction left of one.
// source: ours
CREATE CONSTRAINT veritrail_extraction_key IF NOT EXISTS
FOR (x:Extraction) REQUIRE (x.process_id, x.node_id, x.position) IS UNIQUE
