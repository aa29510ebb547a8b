// purpose: Take back the error localization of a verification that is written again.
// param verification_id: string - the verification
// source: ours
MATCH (v:Verification {verification_id: $verification_id})
      -[error:ERROR_INTRODUCED_AT|ERROR_OFFERED_AT|ERROR_PROPAGATED_THROUGH]->(:Span)
DELETE error
