// purpose: Record the version of the schema.
// param version: integer - the version
// source: ours
MERGE (m:VeriTrailSchema {name: 'veritrail'})
SET m.version = $version
