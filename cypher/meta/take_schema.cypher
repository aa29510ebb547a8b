// purpose: Take the right to change the schema, unless a writer that is alive has it.
// param owner: string - who takes it
// param beat: string - now, ISO 8601 in UTC
// param dead_owner: string - a writer that was found dead, or null
// param dead_beat: string - its last sign of life, or null
// column version: integer - version of the graph; no row when another writer has the right
// source: ours
MERGE (m:VeriTrailSchema {name: 'veritrail'})
ON CREATE SET m.version = 0
// Locks the node, so that the owner that is read next is the latest.
SET m.asked = $beat
WITH m
// Our own mark is there when the answer to the first attempt was lost.
WHERE m.owner IS NULL OR (m.owner = $dead_owner AND m.beat = $dead_beat)
   OR (m.owner = $owner AND m.beat = $beat)
SET m.owner = $owner, m.beat = $beat
RETURN m.version AS version
