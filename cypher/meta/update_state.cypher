// purpose: How far the schema of this graph is, and who is bringing it further.
// column version: integer - the version that it has as a whole
// column migrations: list - names of the migrations that were applied
// column owner: string - who is applying migrations, or null
// column beat: string - last sign of life of that writer, ISO 8601 in UTC
// source: ours
MATCH (m:VeriTrailSchema {name: 'veritrail'})
RETURN m.version AS version, coalesce(m.migrations, []) AS migrations, m.owner AS owner,
       m.beat AS beat
