// purpose: A page of the proposed wordings of sentences of a process.
// param process_id: string - the process
// param after: string - revision_id of the last one of the page before
// param limit: integer - at most this many
// column properties: map - properties of the wording
// source: Error-tolerant attribution 7
MATCH (x:Revision {process_id: $process_id})
WHERE x.revision_id > $after
RETURN properties(x) AS properties
ORDER BY x.revision_id LIMIT $limit
