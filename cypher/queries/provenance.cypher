// purpose: Provenance of a claim: the paths of evidence down to the verified node, complete ones first.
// param process_id: string - the process
// param claim_id: string - the claim
// param verification_id: string = null - the verification; the claim's one in force when null
// param limit: integer = 100 in 1..10000 - at most this many paths
// column verification_id: string - the verification
// column complete: boolean - whether the path begins in a root node
// column hops: integer - links of the path
// column nodes: list - node_ids from where the path begins to the verified node
// column path: list - the same nodes: {node_id, stage, role, via, sentences: [{sentence, role, text}]}; via: nodes without evidence before the next one
// column path_count: integer - how many paths there are; counted to 10^15
// column complete_path_count: integer - how many of them begin in a root node
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
       target: w.node_id, iteration: u.iteration, node_id: u.node_id, stage: u.stage, role: u.role, via: link.via,
       sentences: sentences
     }) AS links
WITH v, t, links, range(0, size(links) - 1) AS numbers,
     reduce(most = 10, link IN links | CASE
       WHEN 2 * link.iteration + 10 > most THEN 2 * link.iteration + 10
       ELSE most
     END) AS rounds
WITH v, t, links, rounds, numbers, [n IN numbers WHERE links[n].target = t.node_id] AS last,
     [link IN links | CASE
       WHEN link.role = 'root' THEN []
       ELSE [n IN numbers WHERE links[n].target = link.node_id]
     END] AS before
// How many paths begin above each link, and how many of them in a root; counted to 10^15.
WITH v, t, links, rounds, last, before, numbers,
     reduce(counts = [n IN numbers | 0], hop IN range(1, rounds) | [n IN numbers | CASE
       WHEN size(before[n]) = 0 THEN 1
       ELSE reduce(found = 0, m IN before[n] | CASE
         WHEN found + counts[m] > 1000000000000000 THEN 1000000000000000
         ELSE found + counts[m]
       END)
     END]) AS every,
     reduce(counts = [n IN numbers | 0], hop IN range(1, rounds) | [n IN numbers | CASE
       WHEN links[n].role = 'root' THEN 1
       ELSE reduce(found = 0, m IN before[n] | CASE
         WHEN found + counts[m] > 1000000000000000 THEN 1000000000000000
         ELSE found + counts[m]
       END)
     END]) AS rooted
WITH v, t, links, rounds, last, before, every, rooted,
     reduce(found = 0, n IN last | CASE
       WHEN found + every[n] > 1000000000000000 THEN 1000000000000000 ELSE found + every[n]
     END) AS path_count,
     reduce(found = 0, n IN last | CASE
       WHEN found + rooted[n] > 1000000000000000 THEN 1000000000000000 ELSE found + rooted[n]
     END) AS complete_path_count
// A path is a list of numbers of links. All paths grow upstream by a link a round and are cut at
// the limit in every round, in place of (:TrailNode)-[:LEADS_TO*]->(v): a deep trail can have more
// paths than an engine can list. Every path goes on or is whole, so none is cut before its turn.
// Those that begin in a root grow by themselves, so that others leave them their places.
WITH v, t, links, path_count, complete_path_count,
     reduce(paths = [n IN last WHERE rooted[n] > 0 | [n]], hop IN range(2, rounds) | COLLECT {
       UNWIND paths AS path
       UNWIND CASE
         WHEN size(before[path[0]]) = 0 THEN [path]
         ELSE [n IN before[path[0]] WHERE rooted[n] > 0 | [n] + path]
       END AS longer
       RETURN longer LIMIT $limit
     }) AS complete_paths,
     reduce(paths = [n IN last WHERE every[n] > rooted[n] | [n]], hop IN range(2, rounds) | COLLECT {
       UNWIND paths AS path
       UNWIND CASE
         WHEN size(before[path[0]]) = 0 THEN [path]
         ELSE [n IN before[path[0]] WHERE every[n] > rooted[n] | [n] + path]
       END AS longer
       RETURN longer LIMIT $limit
     }) AS other_paths
// UNWIND keeps the order of the list; a sort would hold all links once more for every path.
UNWIND complete_paths + other_paths AS path
WITH v, path_count, complete_path_count, [n IN path | {
       node_id: links[n].node_id, stage: links[n].stage, role: links[n].role, via: links[n].via,
       sentences: links[n].sentences
     }] + [{node_id: t.node_id, stage: t.stage, role: t.role, via: [], sentences: []}] AS path
RETURN v.verification_id AS verification_id, path[0].role = 'root' AS complete,
       size(path) - 1 AS hops, [step IN path | step.node_id] AS nodes, path,
       path_count, complete_path_count
LIMIT $limit
