// purpose: Give steps a caption.
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Step)
WHERE x.verification_id IS NOT NULL AND x.caption IS NULL
WITH x, toString(coalesce(x.iteration, 0)) + ': ' + coalesce(x.step, '') AS line LIMIT $limit
SET x.caption = CASE WHEN left(line, 40) = line THEN line ELSE left(line, 39) + '…' END
RETURN count(x) AS done
