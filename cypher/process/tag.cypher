// purpose: Say to which project a process belongs, and which tags it has.
// param process_id: string - the process
// param project: string - the project, or null
// param tags: list - the tags
// column process_id: string - the process; none that is not ready
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
SET p.project = $project, p.tags = $tags
RETURN p.process_id AS process_id
