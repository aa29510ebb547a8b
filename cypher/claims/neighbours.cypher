// purpose: The claims before and behind one in the order of the input, and its number among them.
// param process_id: string - the process
// param claim_id: string - the claim
// column previous: string - the claim before it, or null
// column next: string - the claim behind it, or null
// column unsupported_before: string - the last claim before it that is not fully supported, or null
// column unsupported_next: string - the first one behind it, or null
// column before: integer - how many claims come before it
// column total: integer - how many there are
// source: ours
MATCH (c:Claim {process_id: $process_id, claim_id: $claim_id})
WITH c.position AS position, c.claim_id AS claim_id
MATCH (o:Claim {process_id: $process_id})
WHERE o.origin IS NULL
WITH o, position, claim_id,
     (o.position < position OR (o.position = position AND o.claim_id < claim_id)) AS is_before,
     EXISTS {
       (o)-[:IN_FORCE]->(:Verification {method: 'veritrail', verdict: 'NOT_FULLY_SUPPORTED'})
     } AS is_wrong
ORDER BY o.position, o.claim_id
WITH claim_id, collect(o.claim_id) AS names, sum(CASE WHEN is_before THEN 1 ELSE 0 END) AS before,
     collect(CASE WHEN is_wrong AND is_before THEN o.claim_id END) AS wrong_before,
     collect(CASE WHEN is_wrong AND NOT is_before AND o.claim_id <> claim_id THEN o.claim_id END) AS wrong_next
RETURN CASE WHEN before > 0 THEN names[before - 1] END AS previous, names[before + 1] AS next,
       last(wrong_before) AS unsupported_before, head(wrong_next) AS unsupported_next,
       before, size(names) AS total
