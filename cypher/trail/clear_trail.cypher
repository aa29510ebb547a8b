// purpose: Take back the evidence trail of a verification that is written again.
// param verification_id: string - the verification
// source: ours
MATCH (t:TrailNode)
WHERE t.verification_id = $verification_id AND t.node_id >= ''
WITH collect(t) AS every  // all are found before the first one is deleted
UNWIND every AS one
DETACH DELETE one
