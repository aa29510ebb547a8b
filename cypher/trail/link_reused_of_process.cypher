// purpose: Link kept verdicts to the earlier ones, where either belongs to a process and both are stored.
// param process_id: string - the process
// source: ours
MATCH (v:Verification)
WHERE v.reused_from IS NOT NULL
MATCH (earlier:Verification)
WHERE earlier.verification_id = v.reused_from
  AND (v.process_id = $process_id OR earlier.process_id = $process_id)
MERGE (v)-[:REUSED_FROM]->(earlier)
