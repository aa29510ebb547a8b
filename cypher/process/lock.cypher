// purpose: Lock a process until the end of the transaction, so that no other writer changes it.
// param process_id: string - the process
// param owner: string - who is writing it
// column status: string - loading, ready, replacing or deleting
// column content_hash: string - hash of the content
// source: ours
MATCH (p:Process {process_id: $process_id})
SET p.owner = $owner
RETURN p.status AS status, p.content_hash AS content_hash
