// purpose: Evidence paths of verifications.
// param verification_ids: list - the verifications
// column verification_id: string - the verification
// column source: string - node_id of the node with evidence
// column target: string - node_id of what it was an input to
// column iteration: integer - the iteration that found the evidence
// column via: list - node_ids of checked nodes without evidence between the two
// source: VeriTrail 3.2 (provenance)
UNWIND $verification_ids AS verification_id
MATCH (t:TrailNode)
WHERE t.verification_id = verification_id AND t.node_id >= ''
MATCH (t)-[link:LEADS_TO]->(w)  // the next node of the trail, or the verification
RETURN verification_id, t.node_id AS source, w.node_id AS target, t.iteration AS iteration,
       link.via AS via
ORDER BY verification_id, iteration, t.stage, t.position, source, target
