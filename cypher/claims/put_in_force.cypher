// purpose: Link claims to their verification in force: the one that counts in lists, queries, gate and reports.
// param process_id: string - the process
// param claim_ids: list - its claims
// source: ours
MATCH (p:Process {process_id: $process_id})
UNWIND $claim_ids AS claim_id
MATCH (c:Claim {process_id: $process_id, claim_id: claim_id})
// Locks the claim, so that of two verifications that are written at once each sees the other.
SET c.asked = true
REMOVE c.asked
WITH p, c
OPTIONAL MATCH (c)<-[:VERIFIES]-(v:Verification {status: 'succeeded', method: 'veritrail'})
// Those of the run of record, then the strongest judge (a language model, an entailment model,
// then one without a model), then the latest.
WITH c, v
ORDER BY coalesce(v.run_id = p.run_of_record, false) DESC,
         CASE WHEN v.indicative THEN 0 WHEN v.engine = 'nli' OR v.engine ENDS WITH '+nli' THEN 1 ELSE 2 END DESC,
         v.created_at DESC, v.verification_id DESC
WITH c, head(collect(v)) AS v
CALL (c, v) {
  MATCH (c)-[old:IN_FORCE]->(o:Verification)
  WHERE v IS NULL OR o.verification_id <> v.verification_id
  DELETE old
}
CALL (c, v) {
  WITH c, v
  WHERE v IS NOT NULL
  MERGE (c)-[:IN_FORCE]->(v)
}
