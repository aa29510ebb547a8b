// purpose: Link kept verdicts to the earlier ones, where either belongs to a process and both are stored.
// param process_id: string - the process
// source: ours
MATCH (v:Verification {process_id: $process_id})
CALL (v) {
  WITH v
  WHERE v.reused_from IS NOT NULL
  MATCH (earlier:Verification {verification_id: v.reused_from})
  MERGE (v)-[:REUSED_FROM]->(earlier)
}
CALL (v) {
  MATCH (later:Verification {reused_from: v.verification_id})
  MERGE (later)-[:REUSED_FROM]->(v)
}
