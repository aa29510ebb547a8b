// purpose: Give claims a caption.
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Claim)
WHERE x.claim_id IS NOT NULL AND x.caption IS NULL
WITH x, CASE
       WHEN x.text IS NULL OR x.text = '' THEN x.claim_id
       ELSE left(x.text, 82)
     END AS start
LIMIT $limit
WITH x, replace(replace(replace(start, '\r\n', ' '), '\n', ' '), '\r', ' ') AS line
SET x.caption = CASE WHEN left(line, 40) = line THEN line ELSE left(line, 39) + '…' END
RETURN count(x) AS done
