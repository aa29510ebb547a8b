// purpose: Link claims to the verification that counts, as `claims/put_in_force` does from now on.
// param limit: integer - at most this many claims
// column done: integer - how many were linked
// source: ours
MATCH (c:Claim)
WHERE EXISTS { (c)<-[:VERIFIES]-(:Verification {status: 'succeeded'}) }
  AND NOT EXISTS { (c)-[:IN_FORCE]->(:Verification) }
WITH c LIMIT $limit
MATCH (c)<-[:VERIFIES]-(v:Verification {status: 'succeeded'})
WITH c, v
ORDER BY CASE WHEN v.indicative THEN 0 ELSE 1 END DESC, v.created_at DESC, v.verification_id DESC
WITH c, head(collect(v)) AS v
CREATE (c)-[:IN_FORCE]->(v)
RETURN count(*) AS done
