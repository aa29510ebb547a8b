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
OPTIONAL MATCH (c)<-[:VERIFIES]-(v:Verification {method: 'veritrail'})
WHERE v.status IN ['succeeded', 'undecided']
  // A verdict is about the text that was judged; a full stop at its end makes no other text.
  AND (v.claim IN [c.text, c.text + '.'] OR c.text = v.claim + '.')
WITH c, v, coalesce(v.run_id = p.run_of_record, false) AS is_record
ORDER BY v.created_at DESC, v.verification_id DESC
// Of each judge: the highest q, then the latest, among those of the content that it read last.
WITH c, is_record, v.engine AS engine, v.model AS model, collect(v) AS each
WITH c, is_record, [one IN each
       WHERE coalesce(one.content_hash, '') = coalesce(each[0].content_hash, '')] AS each
WITH c, is_record, reduce(best = each[0], one IN each | CASE WHEN one.q > best.q THEN one ELSE best END) AS v
// Of the judges: that of the run of record, then one that decided, then the strongest (a language
// model, a model that gives figures alone, then one without a model), then the latest.
ORDER BY is_record DESC, CASE WHEN v.verdict IS NULL THEN 0 ELSE 1 END DESC,
         CASE WHEN v.indicative THEN 0 WHEN split(v.engine, '+')[-1] IN ['nli', 'decisions'] THEN 1 ELSE 2 END DESC,
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
