// purpose: Version of the schema of this graph, and who is changing the schema now.
// column version: integer - the version of the whole graph
// column owner: string - who is changing the schema, or null
// column beat: string - last sign of life of that writer, ISO 8601 in UTC
// source: ours
MATCH (m:VeriTrailSchema {name: 'veritrail'})
RETURN m.version AS version, m.owner AS owner, m.beat AS beat
