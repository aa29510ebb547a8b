// purpose: The claims before and behind one in the order of the input, and its number among them.
// param process_id: string - the process
// param claim_id: string - the claim
// column previous: string - the claim before it, or null
// column next: string - the claim behind it, or null
// column before: integer - how many claims come before it
// column total: integer - how many there are
// source: ours
MATCH (c:Claim {process_id: $process_id, claim_id: $claim_id})
WITH c.position AS position, c.claim_id AS claim_id
MATCH (o:Claim {process_id: $process_id})
WHERE o.origin IS NULL
WITH o, position, claim_id,
     (o.position < position OR (o.position = position AND o.claim_id < claim_id)) AS is_before
ORDER BY o.position, o.claim_id
WITH claim_id, collect(o.claim_id) AS names, sum(CASE WHEN is_before THEN 1 ELSE 0 END) AS before
RETURN CASE WHEN before > 0 THEN names[before - 1] END AS previous, names[before + 1] AS next,
       before, size(names) AS total
