// purpose: Record a migration that was applied to the end; a second time changes nothing.
// param owner: string - who applied it
// param migration: string - its name
// param at: string - now, ISO 8601 in UTC
// param by: string - version of the program
// column version: integer - the version that the graph has; no row when somebody else took over
// source: ours
MATCH (m:VeriTrailSchema {name: 'veritrail'})
WHERE m.owner = $owner
WITH m, CASE WHEN $migration IN coalesce(m.migrations, []) THEN [] ELSE [1] END AS new
SET m.migrations = coalesce(m.migrations, []) + [x IN new | $migration],
    m.applied_at = coalesce(m.applied_at, []) + [x IN new | $at],
    m.applied_by = coalesce(m.applied_by, []) + [x IN new | $by]
RETURN m.version AS version
