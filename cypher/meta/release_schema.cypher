// purpose: Give back the right to change the schema, and record the version that was reached.
// param owner: string - who changed the schema
// param version: integer - the new version, or null when it was not reached
// source: ours
MATCH (m:VeriTrailSchema {name: 'veritrail'})
WHERE m.owner = $owner
SET m.version = coalesce($version, m.version), m.owner = null, m.beat = null, m.asked = null
