// purpose: Give verifications a caption: their verdict, and whether it is indicative, or their status in words.
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Verification)
WHERE x.verification_id IS NOT NULL AND x.caption IS NULL
WITH x, CASE x.verdict
       WHEN 'FULLY_SUPPORTED' THEN 'Fully Supported'
       WHEN 'NOT_FULLY_SUPPORTED' THEN 'Not Fully Supported'
       WHEN 'INCONCLUSIVE' THEN 'Inconclusive'
     END AS verdict, replace(coalesce(x.status, ''), '_', ' ') AS status
LIMIT $limit
SET x.caption = CASE
  WHEN verdict IS NULL THEN toUpper(left(status, 1)) + toLower(substring(status, 1))
  WHEN x.indicative THEN verdict + ' (indicative)'
  ELSE verdict
END
RETURN count(x) AS done
