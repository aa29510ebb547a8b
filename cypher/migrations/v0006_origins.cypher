// purpose: Say of stored spans where their text comes from, as ingest does from now on.
// param limit: integer - at most this many spans
// column done: integer - how many were given an origin
// source: ours
MATCH (s:Span)
WHERE s.origin IS NULL
WITH s LIMIT $limit
WITH s, s.role <> 'root' OR s.model IS NOT NULL OR s.prompt IS NOT NULL AS is_generated
SET s.origin = CASE WHEN is_generated THEN 'generated' ELSE 'source' END,
    s.role = CASE WHEN s.role = 'root' AND is_generated THEN 'unsourced' ELSE s.role END
RETURN count(*) AS done
