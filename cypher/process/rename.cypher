// purpose: Give a staged process its final id and make it visible; what kept that id for it goes in the same step, so that the id is never free.
// param staged_id: string - its id while it was loaded
// param process_id: string - its final id
// param owner: string - who is writing it
// column process_id: string - the process; no row when another writer has it
// source: ours
MATCH (p:Process {process_id: $staged_id})
// Locks the node, so that the owner that is looked at next is the latest.
SET p.asked = $owner
REMOVE p.asked
WITH p
WHERE p.owner = $owner
OPTIONAL MATCH (old:Process {process_id: $process_id})
FOREACH (one IN CASE WHEN old IS NULL THEN [] ELSE [old] END | DETACH DELETE one)
SET p.process_id = $process_id, p.status = 'ready'
REMOVE p.owner, p.beat, p.replaces, p.plan
RETURN p.process_id AS process_id
