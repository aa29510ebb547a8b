// purpose: Give evidence a caption.
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Evidence)
WHERE x.evidence_id IS NOT NULL AND x.caption IS NULL
WITH x, CASE
       WHEN x.summary IS NULL OR x.summary = '' THEN 'Evidence'
       ELSE left(x.summary, 82)
     END AS start
LIMIT $limit
WITH x, replace(replace(replace(start, '\r\n', ' '), '\n', ' '), '\r', ' ') AS line
SET x.caption = CASE WHEN left(line, 40) = line THEN line ELSE left(line, 39) + '…' END
RETURN count(x) AS done
