// purpose: Make a loaded process visible; a second time it changes nothing.
// param process_id: string - the process
// param owner: string - who has loaded it
// param content_hash: string - hash of the content
// column process_id: string - the process; no row when another writer has it
// source: ours
MATCH (p:Process {process_id: $process_id})
// Locks the node, so that the owner that is looked at next is the latest.
SET p.asked = $owner
REMOVE p.asked
WITH p
WHERE (p.status = 'loading' AND p.owner = $owner)
   OR (p.status = 'ready' AND p.content_hash = $content_hash)
SET p.status = 'ready'
REMOVE p.owner, p.beat, p.plan
RETURN p.process_id AS process_id
