// purpose: Let go of the schema, and say which version it has now.
// param owner: string - who was applying migrations
// param version: integer - the version, or null when it was not reached
// source: ours
MATCH (m:VeriTrailSchema {name: 'veritrail'})
WHERE m.owner = $owner
SET m.version = coalesce($version, m.version), m.owner = null, m.beat = null, m.asked = null
