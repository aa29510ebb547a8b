// purpose: Share of the nodes of a process that a claim was verified against, by judge and q.
// param process_id: string - the process
// param limit: integer = 100 in 1..10000 - at most this many
// column engine: string - the engine of judgement
// column model: string - the model, or null
// column q: integer - its limit of consecutive Not Fully Supported verdicts
// column verifications: integer - how many have a verdict; those of questions are left out
// column nodes: float - nodes that one of them read, on average
// column share: float - their share of all nodes of the process, on average, from 0 to 1
// column least: float - the smallest share
// column most: float - the largest share
// group: Runs and cost
// example: process_id=harbour-summary
// source: VeriTrail D (percentage of nodes verified)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (v:Verification {process_id: $process_id, status: 'succeeded', method: 'veritrail'})
WHERE v.origin IS NULL
OPTIONAL MATCH (v)-[:HAS_ITERATION]->(i:Iteration)
WITH p, v, coalesce(sum(i.checked_count), 0) AS read
WITH v.engine AS engine, v.model AS model, v.q AS q, p.nodes AS all, count(*) AS verifications,
     toFloat(sum(read)) AS read, toFloat(min(read)) AS least, toFloat(max(read)) AS most
WITH engine, model, q, verifications, read / verifications AS nodes,
     read / verifications / all AS share, least / all AS least, most / all AS most
RETURN engine, model, q, verifications, nodes, share, least, most
ORDER BY engine, model, q
LIMIT $limit
