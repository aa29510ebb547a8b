// purpose: Check for edges of a process that break its rules; reads every edge, or those of one stage.
// param process_id: string - the process
// param stage: integer = null in 0..2147483647 - only edges that begin in this stage
// param limit: integer = 100 in 1..10000 - at most this many
// column source: string - node_id of where the edge begins
// column target: string - node_id of where it ends
// column problem: string - leads into another process, leads to itself, or leads to an earlier stage
// group: Integrity: no rows on a sound graph
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (u:Span)
WHERE u.process_id = $process_id AND u.node_id >= '' AND ($stage IS NULL OR u.stage = $stage)
WITH u, u.stage AS from_stage
MATCH (u)-[:INPUT_TO]->(w:Span)
WHERE w.stage < from_stage OR w = u OR w.process_id <> $process_id
// Collected first: sorting comes after the wrong ones are picked, and not before.
WITH collect([u, w]) AS wrong
UNWIND wrong AS pair
WITH pair[0] AS u, pair[1] AS w
RETURN u.node_id AS source, w.node_id AS target, CASE
         WHEN w.process_id <> $process_id THEN 'leads into another process'
         WHEN w = u THEN 'leads to itself'
         ELSE 'leads to an earlier stage'
       END AS problem
ORDER BY u.stage, u.position, w.stage, w.position, problem
LIMIT $limit
