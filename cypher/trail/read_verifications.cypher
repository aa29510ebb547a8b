// purpose: Verifications of processes that are ready, in the order asked for.
// param verification_ids: list - the verifications
// column properties: map - properties of the verification
// source: VeriTrail 3.2
UNWIND range(0, size($verification_ids) - 1) AS place
MATCH (v:Verification {verification_id: $verification_ids[place]})
MATCH (p:Process {process_id: v.process_id})
WHERE p.status = 'ready'
RETURN properties(v) AS properties
ORDER BY place
