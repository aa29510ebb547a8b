// purpose: What is stored under a process_id, finished or not.
// param process_id: string - the process
// column status: string - loading, ready, replacing or deleting
// column content_hash: string - hash of the content
// column owner: string - who is writing it: host, process and its start
// column beat: string - last sign of life of the writer, ISO 8601 in UTC
// column replaces: string - process_id that a staged process takes over, or null
// column plan: string - in what batches it is loaded, or null
// source: ours
MATCH (p:Process {process_id: $process_id})
RETURN p.status AS status, p.content_hash AS content_hash, p.owner AS owner, p.beat AS beat,
       p.replaces AS replaces, p.plan AS plan
