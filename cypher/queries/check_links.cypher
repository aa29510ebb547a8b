// purpose: Check for links of provenance without a verification, out of the process, or without the evidence or edges that they need; reads every node once.
// param process_id: string - the process
// param limit: integer = 100 in 1..10000 - at most this many
// column source: string - node_id of where the link begins
// column target: string - node_id of where it ends
// column verification_id: string - the verification that it names
// column problem: string - what is wrong
// group: Integrity: no rows on a sound graph
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (u:Span)
WHERE u.process_id = p.process_id AND u.node_id >= ''
MATCH (u)-[link:EVIDENCE_FOR]->(w:Span)
// By verification, so that what one cites is read once for all its links.
WITH link.verification_id AS id, collect({u: u, w: w, link: link}) AS links
OPTIONAL MATCH (v:Verification)
WHERE v.verification_id = id
WITH v, links, CASE WHEN v IS NULL THEN [] ELSE COLLECT {
       MATCH (v)-[:HAS_ITERATION]->(i:Iteration)-[:FOUND]->(:Evidence)-[:CITES]->(:Sentence)
             -[:SENTENCE_OF]->(s:Span)
       RETURN DISTINCT toString(i.number) + ' ' + s.node_id
     } END AS cited
UNWIND links AS one
WITH v, cited, one.u AS u, one.w AS w, one.link AS link
WITH v, cited, u, w, link, [u.node_id] + coalesce(link.via, []) + [w.node_id] AS way
WITH u, w, link, CASE
       WHEN v IS NULL THEN 'its verification is not stored'
       WHEN v.process_id <> u.process_id OR w.process_id <> u.process_id THEN 'leaves the process'
       WHEN NOT coalesce(toString(link.iteration), '') + ' ' + u.node_id IN cited
         THEN 'no sentence of its source is evidence of that round'
       WHEN size(way) = 2 AND NOT EXISTS { (u)-[:INPUT_TO]->(w) }
         THEN 'no edges of the process lead this way'
       WHEN size(way) > 2 AND size(way) - 1 > COUNT {
         UNWIND range(1, size(way) - 1) AS hop
         MATCH (x:Span)
         WHERE x.process_id = u.process_id AND x.node_id = way[hop - 1]
         MATCH (x)-[:INPUT_TO]->(y:Span)
         WHERE y.process_id = u.process_id AND y.node_id = way[hop]
         RETURN DISTINCT hop
       } THEN 'no edges of the process lead this way'
     END AS problem
WHERE problem IS NOT NULL
WITH collect({u: u, w: w, id: link.verification_id, problem: problem}) AS rows
UNWIND rows AS row
WITH row.u AS u, row.w AS w, row.id AS verification_id, row.problem AS problem
RETURN u.node_id AS source, w.node_id AS target, verification_id, problem
ORDER BY u.stage, u.position, w.stage, w.position, verification_id
LIMIT $limit
