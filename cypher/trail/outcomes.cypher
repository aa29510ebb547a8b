// purpose: How many verifications have each outcome.
// param verification_ids: list - the verifications
// column outcome: string - the verdict, else the status
// column verifications: integer - how many
// source: ours
UNWIND $verification_ids AS verification_id
MATCH (v:Verification {verification_id: verification_id})
RETURN CASE WHEN v.status = 'succeeded' THEN v.verdict ELSE v.status END AS outcome,
       count(v) AS verifications
