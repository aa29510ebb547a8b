// purpose: Give verifications a caption: their verdict or, without one, their status in words.
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (x:Verification)
WHERE x.verification_id IS NOT NULL AND x.caption IS NULL
WITH x, replace(coalesce(x.verdict, x.status, ''), '_', ' ') AS words LIMIT $limit
SET x.caption = toUpper(left(words, 1)) + toLower(substring(words, 1))
RETURN count(x) AS done
