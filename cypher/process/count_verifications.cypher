// purpose: How many verifications a process has.
// param process_id: string - the process
// column verifications: integer - how many
// source: ours
MATCH (v:Verification {process_id: $process_id})
RETURN count(v) AS verifications
