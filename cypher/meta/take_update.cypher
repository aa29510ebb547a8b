// purpose: Become the one who applies migrations, unless somebody else is; dead writers do not count.
// param owner: string - who wants to
// param beat: string - now, ISO 8601 in UTC
// param dead_owner: string - a writer that was found dead, or null
// param dead_beat: string - its last sign of life, or null
// column version: integer - the version that the graph has; no row when somebody else is at it
// source: ours
MERGE (m:VeriTrailSchema {name: 'veritrail'})
ON CREATE SET m.version = 0
// Locks the node, so that the owner that is looked at next is the latest.
SET m.asked = $beat
WITH m
// Its own mark is there when the answer to the first attempt was lost.
WHERE m.owner IS NULL OR (m.owner = $dead_owner AND m.beat = $dead_beat)
   OR (m.owner = $owner AND m.beat = $beat)
SET m.owner = $owner, m.beat = $beat
RETURN m.version AS version
