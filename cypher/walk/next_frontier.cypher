// purpose: What comes after an iteration of a walk: its next frontier, and whether q verdicts stop it.
// param process_id: string - the process
// param verdicts: list - all verdicts so far, the latest last; UNDECIDED where there is none
// param q: integer - how many consecutive NOT_FULLY_SUPPORTED stop the walk
// param frontier: list - [number, node_id] of the nodes of this iteration, or of some of them
// param evidence: map - by node_id: the nodes of this iteration with evidence
// param checked: map - by node_id: the nodes that were checked, those of this iteration too
// param edges: integer - the most edges that are followed; an answer with as many is incomplete
// param longest: integer - the most UTF-16 units of a text
// column consecutive: integer - how many verdicts in a row, up to now, are NOT_FULLY_SUPPORTED
// column followed: integer - how many edges were followed
// column node_ids: list - the next frontier by the thousand; one node of it where the walk stops
// column stages: list - their stages
// column positions: list - their places in the input
// column roles: list - root, intermediate, terminal or unsourced
// column texts: list - their texts, or null where the walk stops
// column targets: list - of each, the numbers of the nodes that it was an input to
// column passed: list - [node_id, numbers] of the source nodes that were checked, in the first row
// source: VeriTrail C.1 Algorithm 1 lines 18 to 25, 33
WITH reduce(run = 0, verdict IN $verdicts |
            CASE WHEN verdict = 'NOT_FULLY_SUPPORTED' THEN run + 1 ELSE 0 END) AS consecutive,
     last($verdicts) = 'NOT_FULLY_SUPPORTED'
       OR (last($verdicts) = 'UNDECIDED' AND size(keys($evidence)) = 0) AS of_all
UNWIND $frontier AS row
WITH consecutive, row[0] AS target, row[1] AS node_id
WHERE of_all OR $evidence[row[1]]
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = node_id
MATCH (v)<-[:INPUT_TO]-(u:Span)
WITH consecutive, target, u LIMIT $edges
WITH consecutive, u, collect(target) AS targets, $checked[u.node_id] IS NULL AS is_new
WITH consecutive, sum(size(targets)) AS followed,
     collect(CASE WHEN is_new THEN u END) AS found,
     collect(CASE WHEN is_new THEN targets END) AS targets,
     collect(CASE WHEN NOT is_new THEN [u.node_id, targets] END) AS passed
WITH consecutive, followed, targets, passed,
     CASE WHEN consecutive < $q THEN found ELSE found[..1] END AS frontier
UNWIND range(0, size(frontier), 1000) AS start
WITH consecutive, followed, targets, start, frontier[start..start + 1000] AS part,
     CASE WHEN start = 0 THEN passed ELSE [] END AS passed
RETURN consecutive, followed, [u IN part | u.node_id] AS node_ids, [u IN part | u.stage] AS stages,
       [u IN part | u.position] AS positions, [u IN part | u.role] AS roles,
       CASE WHEN consecutive < $q THEN [u IN part | left(u.text, $longest)] END AS texts,
       targets[start..start + size(part)] AS targets, passed
