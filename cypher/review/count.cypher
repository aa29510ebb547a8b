// purpose: How many reviews a process, or claims of it, have.
// param process_id: string - the process
// param claim_ids: list - only those of these claims, or null
// column reviews: integer - their number
// source: ours
MATCH (r:Review {process_id: $process_id})
WHERE $claim_ids IS NULL OR r.claim_id IN $claim_ids
RETURN count(r) AS reviews
