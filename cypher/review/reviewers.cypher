// purpose: Who has reviewed which claims of a process, packed.
// param process_id: string - the process
// param window: integer - claims a row
// column reviewer: string - a reviewer
// column claim_ids: list - claims that have a review of theirs
// source: ours
MATCH (r:Review {process_id: $process_id})
WITH r.reviewer AS reviewer, collect(DISTINCT r.claim_id) AS every
UNWIND range(0, size(every) - 1, $window) AS start
RETURN reviewer, every[start..start + $window] AS claim_ids
