// purpose: Shortest provenance of a claim: the fewest links of evidence from a root node to the verified node.
// param process_id: string - the process
// param claim_id: string - the claim
// param verification_id: string = null - the verification; the claim's one in force when null
// column verification_id: string - the verification
// column complete: boolean - whether the path begins in a root node; where none does, it begins where the evidence does
// column hop: integer - place on the path; 0 where it begins
// column node_id: string - the node
// column stage: integer - its stage
// column role: string - root, intermediate, terminal or unsourced
// column sentences: list - its sentences that the verification cites: {sentence, role, text}
// column via: list - node_ids of the nodes without evidence before the next one
// group: Where a claim comes from
// example: process_id=harbour-summary claim_id=k01
// source: VeriTrail 3.2 (provenance)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (c:Claim {process_id: $process_id, claim_id: $claim_id})
      <-[:VERIFIES]-(v:Verification {method: 'veritrail'})
WHERE v.verification_id = $verification_id
   OR ($verification_id IS NULL AND EXISTS { (c)-[:IN_FORCE]->(v) })
WITH v LIMIT 1
MATCH (t:Span)
WHERE t.process_id = $process_id AND t.node_id = v.node_id
MATCH (v)-[:HAS_ITERATION]->(:Iteration)-[:FOUND]->(:Evidence)-[cites:CITES]->(n:Sentence)
WITH v, t, cites, n ORDER BY n.index
WITH v, t, n.node_id AS node_id,
     collect({sentence: n.index, role: cites.role, text: n.text}) AS sentences
MATCH (u:TrailNode)
WHERE u.verification_id = v.verification_id AND u.node_id = node_id
MATCH (u)-[link:LEADS_TO]->(w)  // the next node of the trail, or the verification
WITH v, t, u, link, w, sentences
ORDER BY u.stage, u.position, coalesce(w.stage, t.stage), coalesce(w.position, t.position)
WITH v, t, collect({
       target: w.node_id, node_id: u.node_id, stage: u.stage, role: u.role, via: link.via,
       sentences: sentences
     }) AS links
WITH v, t, links, range(0, size(links) - 1) AS numbers
WITH v, t, links, [n IN numbers WHERE links[n].target = t.node_id] AS nearest,
     [link IN links | [n IN numbers WHERE links[n].target = link.node_id]] AS before
// Round by round upstream, every link once a round, until one begins in a root node; then back
// down, by the first link that goes on.
WITH v, t, links, before, reduce(levels = [{links: nearest}], hop IN range(2, size(links) + 1) |
       CASE
         WHEN size(levels[-1].links) = 0
           OR any(n IN levels[-1].links WHERE links[n].role = 'root') THEN levels
         ELSE levels + {links: COLLECT {
           UNWIND levels[-1].links AS last
           UNWIND before[last] AS n
           RETURN DISTINCT n ORDER BY n
         }}
       END
     ) AS levels
WITH v, t, links, levels,
     head([k IN range(0, size(levels) - 1)
       WHERE any(n IN levels[k].links WHERE links[n].role = 'root')]) AS root_level,
     head([k IN range(0, size(levels) - 1)
       WHERE any(n IN levels[k].links WHERE size(before[n]) = 0)]) AS begin_level, before
WITH v, t, links, levels, root_level IS NOT NULL AS complete,
     coalesce(root_level, begin_level) AS level, before
WITH v, t, links, complete, reduce(path = [head([n IN levels[level].links
         WHERE links[n].role = 'root' OR NOT complete AND size(before[n]) = 0])],
       back IN range(1, level) |
         path + head([n IN levels[level - back].links
                        WHERE links[n].node_id = links[path[-1]].target])
     ) AS path
WITH v, complete, [n IN path | links[n]] + [{
       node_id: t.node_id, stage: t.stage, role: t.role, via: [], sentences: []
     }] AS steps
UNWIND range(0, size(steps) - 1) AS hop
RETURN v.verification_id AS verification_id, complete, hop, steps[hop].node_id AS node_id,
       steps[hop].stage AS stage, steps[hop].role AS role, steps[hop].sentences AS sentences,
       steps[hop].via AS via
ORDER BY hop
