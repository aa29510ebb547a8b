// purpose: A claim_id names one claim of a process.
// source: ours
CREATE CONSTRAINT veritrail_claim_key IF NOT EXISTS
FOR (c:Claim) REQUIRE (c.process_id, c.claim_id) IS UNIQUE;

// purpose: Claims are found by process.
// source: ours
CREATE INDEX veritrail_claim_process IF NOT EXISTS
FOR (c:Claim) ON (c.process_id);

// purpose: An evidence_id names one piece of evidence.
// source: ours
CREATE CONSTRAINT veritrail_evidence_key IF NOT EXISTS
FOR (e:Evidence) REQUIRE e.evidence_id IS UNIQUE;

// purpose: A number names one iteration of a verification.
// source: ours
CREATE CONSTRAINT veritrail_iteration_key IF NOT EXISTS
FOR (i:Iteration) REQUIRE (i.verification_id, i.number) IS UNIQUE;

// purpose: A process_id names one process.
// source: ours
CREATE CONSTRAINT veritrail_process_key IF NOT EXISTS
FOR (p:Process) REQUIRE p.process_id IS UNIQUE;

// purpose: The record of the schema's version is one node.
// source: ours
CREATE CONSTRAINT veritrail_schema_key IF NOT EXISTS
FOR (m:VeriTrailSchema) REQUIRE m.name IS UNIQUE;

// purpose: A number and a place in the text name one sentence of a span.
// source: ours
CREATE CONSTRAINT veritrail_sentence_key IF NOT EXISTS
FOR (s:Sentence) REQUIRE (s.process_id, s.node_id, s.index, s.start, s.end) IS UNIQUE;

// purpose: Sentences are found by process.
// source: ours
CREATE INDEX veritrail_sentence_process IF NOT EXISTS
FOR (s:Sentence) ON (s.process_id);

// purpose: A node_id names one span of a process.
// source: ours
CREATE CONSTRAINT veritrail_span_key IF NOT EXISTS
FOR (s:Span) REQUIRE (s.process_id, s.node_id) IS UNIQUE;

// purpose: A verification and a span name one node of its evidence trail.
// source: ours
CREATE CONSTRAINT veritrail_trailnode_key IF NOT EXISTS
FOR (t:TrailNode) REQUIRE (t.verification_id, t.node_id) IS UNIQUE;

// purpose: A verification_id names one verification.
// source: ours
CREATE CONSTRAINT veritrail_verification_key IF NOT EXISTS
FOR (v:Verification) REQUIRE v.verification_id IS UNIQUE;

// purpose: Verifications are found by process.
// source: ours
CREATE INDEX veritrail_verification_process IF NOT EXISTS
FOR (v:Verification) ON (v.process_id);

// purpose: Verifications are found by run.
// source: ours
CREATE INDEX veritrail_verification_run IF NOT EXISTS
FOR (v:Verification) ON (v.run_id);

// purpose: The latest verification of the graph is found by time.
// source: ours
CREATE INDEX veritrail_verification_created_at IF NOT EXISTS
FOR (v:Verification) ON (v.created_at);

// purpose: Kept verdicts are found by the verification that they were taken from.
// source: ours
CREATE INDEX veritrail_verification_reused_from IF NOT EXISTS
FOR (v:Verification) ON (v.reused_from);

// purpose: A place among the sentences of a node names what claim extraction made of one sentence.
// source: ours
CREATE CONSTRAINT veritrail_extraction_key IF NOT EXISTS
FOR (x:Extraction) REQUIRE (x.process_id, x.node_id, x.position) IS UNIQUE;

// purpose: What claim extraction made is found by process.
// source: ours
CREATE INDEX veritrail_extraction_process IF NOT EXISTS
FOR (x:Extraction) ON (x.process_id);

// purpose: A review_id names one review.
// source: ours
CREATE CONSTRAINT veritrail_review_key IF NOT EXISTS
FOR (r:Review) REQUIRE r.review_id IS UNIQUE;

// purpose: Reviews are found by process.
// source: ours
CREATE INDEX veritrail_review_process IF NOT EXISTS
FOR (r:Review) ON (r.process_id);

// purpose: A revision_id names one proposed wording of a sentence.
// source: ours
CREATE CONSTRAINT veritrail_revision_key IF NOT EXISTS
FOR (x:Revision) REQUIRE x.revision_id IS UNIQUE;

// purpose: Proposed wordings are found by process.
// source: ours
CREATE INDEX veritrail_revision_process IF NOT EXISTS
FOR (x:Revision) ON (x.process_id);

// purpose: A run names what it found of a turn.
// source: ours
CREATE CONSTRAINT veritrail_turnverification_key IF NOT EXISTS
FOR (t:TurnVerification) REQUIRE (t.process_id, t.node_id, t.run_id) IS UNIQUE;

// purpose: What was found of turns is found by process.
// source: ours
CREATE INDEX veritrail_turnverification_process IF NOT EXISTS
FOR (t:TurnVerification) ON (t.process_id);
