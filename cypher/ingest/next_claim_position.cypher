// purpose: The place of the next claim of a process.
// param process_id: string - the process
// column position: integer - one more than the highest so far
// source: ours
MATCH (c:Claim {process_id: $process_id})
RETURN coalesce(max(c.position) + 1, 0) AS position
