// purpose: Verifications of processes that are ready, with error localization, in the order asked for.
// param verification_ids: list - the verifications
// column properties: map - properties of the verification
// column errors: list - [introduced there or only carried on, place among the error nodes, node_id, stage, position, role]
// source: VeriTrail 3.2 (error localization)
UNWIND range(0, size($verification_ids) - 1) AS place
MATCH (v:Verification {verification_id: $verification_ids[place]})
MATCH (p:Process {process_id: v.process_id})
WHERE p.status = 'ready'
OPTIONAL MATCH (v)-[error:ERROR_INTRODUCED_AT|ERROR_PROPAGATED_THROUGH]->(s:Span)
WITH place, v, collect([
       type(error) = 'ERROR_INTRODUCED_AT', error.position, s.node_id, s.stage, s.position, s.role
     ]) AS errors
RETURN properties(v) AS properties, errors
ORDER BY place
