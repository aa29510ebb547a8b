// purpose: Error localization of verifications.
// param verification_ids: list - the verifications
// column verification_id: string - the verification
// column introduced: boolean - introduced there, or only carried on
// column node: list - [node_id, stage, position, role]
// source: VeriTrail 3.2 (error localization)
UNWIND $verification_ids AS verification_id
MATCH (v:Verification {verification_id: verification_id})
      -[error:ERROR_INTRODUCED_AT|ERROR_PROPAGATED_THROUGH]->(s:Span)
RETURN verification_id, type(error) = 'ERROR_INTRODUCED_AT' AS introduced,
       [s.node_id, s.stage, s.position, s.role] AS node
ORDER BY verification_id, s.stage, s.position, s.node_id
