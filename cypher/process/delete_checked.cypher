// purpose: Take back some links to checked spans of iterations that checked very many.
// param process_id: string - the process
// param most: integer - iterations with more links than this
// param limit: integer - at most this many links
// column done: integer - how many there were
// source: ours
MATCH (v:Verification {process_id: $process_id})-[:HAS_ITERATION]->(i:Iteration)
WHERE i.checked_count > $most
MATCH (i)-[checked:CHECKED]->(:Span)
WITH checked LIMIT $limit
DELETE checked
RETURN count(*) AS done
