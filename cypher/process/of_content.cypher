// purpose: Processes that are ready and whose content hash begins with some digits.
// param digits: string - the first digits
// column process_id: string - the process
// column content_hash: string - its content hash
// source: ours
MATCH (p:Process)
WHERE p.status = 'ready' AND p.content_hash STARTS WITH $digits
RETURN p.process_id AS process_id, p.content_hash AS content_hash
ORDER BY process_id
