// purpose: Find the nodes of evidence trails by their key while they are made.
// source: ours
CREATE CONSTRAINT veritrail_trailnode_key IF NOT EXISTS
FOR (t:TrailNode) REQUIRE (t.verification_id, t.node_id) IS UNIQUE
