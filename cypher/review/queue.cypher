// purpose: Claims of a process that is ready, for a review: ids and verdicts, packed, in no order.
// param process_id: string - the process
// param judged: boolean - whether verdicts are read
// param window: integer - claims a row
// column claims: list - [position, claim_id, verdict, error_stages] of each claim; null where there is no verdict, or verdicts are not read
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id})
WHERE c.origin IS NULL
WITH c, CASE WHEN $judged THEN head(COLLECT {
       MATCH (c)-[:IN_FORCE]->(v:Verification)
       RETURN [v.verdict, v.error_stages]
     }) END AS found
WITH collect([c.position, c.claim_id, found[0], found[1]]) AS every
UNWIND range(0, size(every) - 1, $window) AS start
RETURN every[start..start + $window] AS claims
