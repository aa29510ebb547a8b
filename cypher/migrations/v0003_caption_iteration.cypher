// purpose: Give iterations a caption: number, interim verdict in words, and whether it is indicative.
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Iteration)
WHERE x.verification_id IS NOT NULL AND x.caption IS NULL
WITH x, CASE x.verdict
       WHEN 'FULLY_SUPPORTED' THEN 'Fully Supported'
       WHEN 'NOT_FULLY_SUPPORTED' THEN 'Not Fully Supported'
       WHEN 'INCONCLUSIVE' THEN 'Inconclusive'
     END AS verdict
LIMIT $limit
OPTIONAL MATCH (x)<-[:HAS_ITERATION]-(v:Verification)
WITH x, verdict, CASE WHEN v.indicative THEN ' (indicative)' ELSE '' END AS remark
SET x.caption = toString(x.number) + ': ' + coalesce(verdict, '') + remark
RETURN count(x) AS done
