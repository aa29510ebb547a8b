// purpose: Take back some links to the spans that a verification checked; many at once do not fit into an engine.
// param verification_id: string - the verification
// param limit: integer - at most this many
// column done: integer - how many there were
// source: ours
MATCH (:Verification {verification_id: $verification_id})-[:HAS_ITERATION]->(:Iteration)
      -[checked:CHECKED]->(:Span)
WITH checked LIMIT $limit
DELETE checked
RETURN count(*) AS done
