// purpose: What is stored under some process_ids, finished or not; of the others there are no rows.
// param process_ids: list - the processes
// column process_id: string - the process
// column status: string - loading, ready, replacing or deleting
// column owner: string - who is writing it: host, process and its start
// column beat: string - last sign of life of the writer, ISO 8601 in UTC
// column replaces: string - process_id that a staged process takes over, or null
// column content_hash: string - hash of the content
// column plan: string - in what batches it is loaded, or null
// source: ours
UNWIND $process_ids AS name
MATCH (p:Process {process_id: name})  // with WHERE the embedded engine looks at every process
RETURN p.process_id AS process_id, p.status AS status, p.owner AS owner, p.beat AS beat,
       p.replaces AS replaces, p.content_hash AS content_hash, p.plan AS plan
