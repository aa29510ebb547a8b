// purpose: Give iterations a caption: number and interim verdict in words.
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Iteration)
WHERE x.verification_id IS NOT NULL AND x.caption IS NULL
WITH x, replace(coalesce(x.verdict, ''), '_', ' ') AS words LIMIT $limit
SET x.caption = toString(x.number) + ': ' + toUpper(left(words, 1)) + toLower(substring(words, 1))
RETURN count(x) AS done
