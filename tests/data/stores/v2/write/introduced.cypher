// purpose: Write where unsupported content was introduced.
// param process_id: string - the process
// param verification_id: string - the verification
// param node_ids: list - the nodes that introduced it
// source: VeriTrail 3.2 (error localization)
MATCH (v:Verification {verification_id: $verification_id})
UNWIND $node_ids AS node_id
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = node_id
CREATE (v)-[:ERROR_INTRODUCED_AT {stage: s.stage}]->(s)
