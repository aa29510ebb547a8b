// purpose: Give a staged process its final id and make it visible.
// param staged_id: string - its id while it was loaded
// param process_id: string - its final id
// source: ours
MATCH (p:Process {process_id: $staged_id})
SET p.process_id = $process_id, p.status = 'ready'
REMOVE p.owner, p.beat, p.replaces, p.plan
