// purpose: Give evidence a caption.
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Evidence)
WHERE x.evidence_id IS NOT NULL AND x.caption IS NULL
WITH x LIMIT $limit
SET x.caption = left(CASE WHEN x.summary IS NULL OR x.summary = '' THEN 'Evidence' ELSE x.summary END, 40)
RETURN count(x) AS done
