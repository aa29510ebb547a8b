// purpose: Check for nodes and links of evidence trails that nothing bears out: verification, span, evidence or edges are missing; reads every node once.
// param process_id: string - the process
// param limit: integer = 100 in 1..10000 - at most this many
// column source: string - node_id of where the link begins
// column target: string - node_id of where it ends; null: the node of the trail itself is wrong
// column verification_id: string - the verification that it names
// column problem: string - what is wrong
// group: Integrity: no rows on a sound graph
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (s:Span)
WHERE s.process_id = p.process_id AND s.node_id >= ''
MATCH (s)<-[:AT]-(u:TrailNode)
// By verification, so that what one cites is read once for all its links.
WITH u.verification_id AS id, collect({s: s, u: u}) AS places
OPTIONAL MATCH (v:Verification)
WHERE v.verification_id = id
WITH id, v, places, CASE WHEN v IS NULL THEN [] ELSE COLLECT {
       MATCH (v)-[:HAS_ITERATION]->(i:Iteration)-[:FOUND]->(:Evidence)-[:CITES]->(n:Sentence)
       RETURN DISTINCT toString(i.number) + ' ' + n.node_id
     } END AS cited
UNWIND places AS place
WITH id, v, cited, place.s AS s, place.u AS u
OPTIONAL MATCH (u)-[link:LEADS_TO]->(w)
OPTIONAL MATCH (w)-[:AT]->(at:Span)
WITH id, v, cited, s, u, link, w, at, [s.node_id] + coalesce(link.via, []) + [w.node_id] AS way
WITH id, s, w, CASE
       WHEN v IS NULL THEN 'its verification is not stored'
       WHEN v.process_id <> s.process_id THEN 'leaves the process'
       WHEN u.node_id <> s.node_id OR u.process_id <> s.process_id OR u.stage <> s.stage
            OR u.role <> s.role THEN 'is not what its span is'
       WHEN NOT coalesce(toString(u.iteration), '') + ' ' + s.node_id IN cited
         THEN 'no sentence of its source is evidence of that round'
       WHEN w IS NULL THEN 'leads nowhere'
       WHEN w <> v AND (w.verification_id <> id OR at IS NULL OR at.process_id <> s.process_id)
         THEN 'leaves the trail'
       WHEN size(way) = 2 AND NOT EXISTS {
         MATCH (s)-[:INPUT_TO]->(y:Span)
         WHERE y.process_id = s.process_id AND y.node_id = way[1]
       } THEN 'no edges of the process lead this way'
       WHEN size(way) > 2 AND size(way) - 1 > COUNT {
         UNWIND range(1, size(way) - 1) AS hop
         MATCH (x:Span)
         WHERE x.process_id = s.process_id AND x.node_id = way[hop - 1]
         MATCH (x)-[:INPUT_TO]->(y:Span)
         WHERE y.process_id = s.process_id AND y.node_id = way[hop]
         RETURN DISTINCT hop
       } THEN 'no edges of the process lead this way'
     END AS problem
WHERE problem IS NOT NULL
WITH collect({s: s, w: w, id: id, problem: problem}) AS rows
UNWIND rows AS row
WITH row.s AS s, row.w AS w, row.id AS verification_id, row.problem AS problem
RETURN s.node_id AS source, w.node_id AS target, verification_id, problem
ORDER BY s.stage, s.position, w.stage, w.position, target, verification_id
LIMIT $limit
