// purpose: Give steps a caption.
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Step)
WHERE x.verification_id IS NOT NULL AND x.caption IS NULL
WITH x LIMIT $limit
SET x.caption = left(toString(coalesce(x.iteration, 0)) + ': ' + coalesce(x.step, ''), 40)
RETURN count(x) AS done
