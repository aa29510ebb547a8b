// purpose: Links of the evidence trails of verifications as they are stored.
// param verification_ids: list - the verifications
// column verification_id: string - the verification
// column source: string - node_id of the node with evidence
// column target: string - node_id of what it was an input to; null: the verification itself comes next
// column properties: map - properties of the link
// source: VeriTrail 3.2 (provenance)
UNWIND $verification_ids AS verification_id
MATCH (t:TrailNode)
WHERE t.verification_id = verification_id AND t.node_id >= ''
MATCH (t)-[link:LEADS_TO]->(w)
WITH verification_id, t, link, w, w:TrailNode AS is_within
RETURN verification_id, t.node_id AS source, CASE WHEN is_within THEN w.node_id END AS target,
       properties(link) AS properties
ORDER BY verification_id, t.iteration, t.stage, t.position, source, target
