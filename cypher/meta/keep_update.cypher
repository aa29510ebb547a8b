// purpose: Leave a sign of life while migrations are applied.
// param owner: string - who is applying them
// param beat: string - now, ISO 8601 in UTC
// column version: integer - the version that the graph has; no row when somebody else took over
// source: ours
MATCH (m:VeriTrailSchema {name: 'veritrail'})
WHERE m.owner = $owner
SET m.beat = $beat
RETURN m.version AS version
