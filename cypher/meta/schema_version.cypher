// purpose: Version of the schema that this graph has.
// column version: integer - the version
// source: ours
MATCH (m:VeriTrailSchema {name: 'veritrail'})
RETURN m.version AS version
