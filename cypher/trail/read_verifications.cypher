// purpose: Verifications of processes that are ready, with error localization, in the order asked for.
// param verification_ids: list - the verifications
// param ends: boolean - whether it is looked for what ends their trails
// column properties: map - properties of the verification
// column errors: list - [introduced there or only carried on, place among the error nodes, node_id, stage, position, role]
// column explained: boolean - whether sentences of a node that introduced the error are attributed; false where it is not looked for
// source: VeriTrail 3.2 (error localization)
UNWIND range(0, size($verification_ids) - 1) AS place
MATCH (v:Verification {verification_id: $verification_ids[place]})
MATCH (p:Process {process_id: v.process_id})
WHERE p.status = 'ready' AND v.method = 'veritrail'
OPTIONAL MATCH (v)-[error:ERROR_INTRODUCED_AT|ERROR_PROPAGATED_THROUGH]->(s:Span)
WITH place, v, error, s,
     CASE WHEN $ends AND type(error) = 'ERROR_INTRODUCED_AT'
       THEN EXISTS { (s)<-[:SENTENCE_OF]-(n:Sentence) WHERE n.attributed_in IS NOT NULL }
       ELSE false
     END AS explained
WITH place, v, max(CASE WHEN explained THEN 1 ELSE 0 END) = 1 AS explained, collect([
       type(error) = 'ERROR_INTRODUCED_AT', error.position, s.node_id, s.stage, s.position, s.role
     ]) AS errors
RETURN properties(v) AS properties, errors, explained
ORDER BY place
