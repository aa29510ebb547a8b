// purpose: The record of the schema's version is one node.
// source: ours
CREATE CONSTRAINT veritrail_schema_key IF NOT EXISTS
FOR (m:VeriTrailSchema) REQUIRE m.name IS UNIQUE
