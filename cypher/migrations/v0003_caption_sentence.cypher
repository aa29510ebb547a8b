// purpose: Give cited sentences a caption.
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Sentence)
WHERE x.node_id IS NOT NULL AND x.caption IS NULL
WITH x LIMIT $limit
SET x.caption = left(CASE WHEN x.text IS NULL OR x.text = '' THEN x.node_id ELSE x.text END, 40)
RETURN count(x) AS done
