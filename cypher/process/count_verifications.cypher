// purpose: How many verifications a process has.
// param process_id: string - the process
// column verifications: integer - how many, those of questions among them
// column questions: integer - those of questions, which are no claims of the answer
// source: ours
MATCH (v:Verification {process_id: $process_id})
RETURN count(v) AS verifications,
       sum(CASE WHEN v.origin IS NULL THEN 0 ELSE 1 END) AS questions
