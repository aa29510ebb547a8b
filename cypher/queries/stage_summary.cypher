// purpose: Stages of a process: their nodes, the errors that entered there, the sentences that evidence cites.
// param process_id: string - the process
// column stage: integer - the stage
// column nodes: integer - its nodes
// column claims_with_errors: integer - claims into which an error came here, or may have, by each claim's verification in force
// column sentences_cited: integer - different sentences that these verifications cite
// column claims_counted: float - these claims, each counted once over all stages: one with k possible stages as 1/k at each
// group: The process as a graph
// example: process_id=harbour-summary
// source: VeriTrail 3.2 (error stages)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
OPTIONAL MATCH (c:Claim {process_id: $process_id})-[:IN_FORCE]->(v:Verification)
WHERE c.origin IS NULL
WITH p, c, v
WITH p, collect(v) AS latest
WITH p, latest, COLLECT {
       UNWIND latest AS v
       MATCH (v)-[:HAS_ITERATION]->(:Iteration)-[:FOUND]->(:Evidence)-[:CITES]->(n:Sentence)
             -[:SENTENCE_OF]->(s:Span)
       WITH s.stage AS stage, count(DISTINCT n) AS sentences
       RETURN {stage: stage, sentences: sentences}
     } AS cited
UNWIND range(0, size(p.stages) - 1) AS place
WITH p.stages[place] AS stage, p.stage_counts[place] AS nodes, latest, cited
RETURN stage, nodes,
       size([v IN latest WHERE stage IN v.error_stages]) AS claims_with_errors,
       coalesce(head([row IN cited WHERE row.stage = stage | row.sentences]), 0) AS sentences_cited,
       reduce(sum = 0.0, v IN latest | CASE WHEN stage IN v.error_stages
              THEN sum + 1.0 / size(v.error_stages) ELSE sum END) AS claims_counted
ORDER BY stage
