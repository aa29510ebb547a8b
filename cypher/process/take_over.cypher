// purpose: Go on with the process of a dead writer; of several who try, one does.
// param process_id: string - the process
// param status: string - how the dead writer left it
// param former: string - the dead writer, or null
// param former_beat: string - its last sign of life, or null
// param owner: string - who is writing it from now on
// param beat: string - now, ISO 8601 in UTC
// column process_id: string - the process
// source: ours
MATCH (p:Process {process_id: $process_id})
// Locks the node, so that the owner that is looked at next is the latest.
SET p.asked = $beat
REMOVE p.asked
WITH p
// Its own mark is there when the answer to the first attempt was lost.
WHERE p.status = $status
  AND ((coalesce(p.owner, '') = coalesce($former, '')
        AND coalesce(p.beat, '') = coalesce($former_beat, ''))
       OR (p.owner = $owner AND p.beat = $beat))
SET p.owner = $owner, p.beat = $beat
RETURN p.process_id AS process_id
