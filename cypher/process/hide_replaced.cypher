// purpose: Hide a process that is to be replaced, or go on replacing one; none that is being loaded.
// param process_id: string - the process
// param owner: string - who replaces it
// param beat: string - now, ISO 8601 in UTC
// column keeps_id: boolean - whether nothing is left of it but its id; no row when it is not there or is being loaded
// source: ours
MATCH (p:Process {process_id: $process_id})
// Locks the node, so that the status that is looked at next is the latest.
SET p.asked = $beat
REMOVE p.asked
WITH p, p.status = 'replacing' AND p.content_hash IS NULL AS keeps_id
WHERE p.status IN ['ready', 'replacing', 'deleting']
SET p.status = 'replacing', p.owner = $owner, p.beat = $beat
// That of a damaged process may be missing, too, while its nodes are there.
FOREACH (_ IN CASE WHEN keeps_id THEN [] ELSE [1] END |
  SET p.content_hash = coalesce(p.content_hash, '')
)
RETURN keeps_id
