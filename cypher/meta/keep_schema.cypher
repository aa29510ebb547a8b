// purpose: Leave a sign of life while the schema is changed.
// param owner: string - who changes it
// param beat: string - now, ISO 8601 in UTC
// source: ours
MATCH (m:VeriTrailSchema {name: 'veritrail'})
WHERE m.owner = $owner
SET m.beat = $beat
