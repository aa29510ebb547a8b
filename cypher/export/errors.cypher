// purpose: Where the errors of verifications were introduced and carried on, as stored.
// param verification_ids: list - the verifications
// column verification_id: string - the verification
// column kind: string - type of the relationship
// column node_id: string - the node
// column properties: map - properties of the relationship
// source: VeriTrail 3.2 (error localization)
UNWIND $verification_ids AS verification_id
MATCH (v:Verification {verification_id: verification_id})
      -[error:ERROR_INTRODUCED_AT|ERROR_OFFERED_AT|ERROR_PROPAGATED_THROUGH]->(s:Span)
RETURN verification_id, type(error) AS kind, s.node_id AS node_id, properties(error) AS properties
ORDER BY verification_id, kind, s.position
