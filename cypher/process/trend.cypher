// purpose: Claims of the processes of a project by verdict in force, judge and error stages.
// param project: string - the project
// param limit: integer - at most this many processes, the latest
// column process_id: string - the process
// column name: string - its name
// column created_at: string - when it was stored
// column tags: list - its tags, or null
// column stage_names: string - names of its stages as JSON text
// column terminals: list - node_ids of its final outputs
// column verdict: string - a verdict, or undecided; null: claims without a result
// column indicative: boolean - whether it is a verdict that no model gave
// column judge: string - the model that gave it, else the engine; null where no verdict was given
// column error_stages: list - where an error came in
// column claims: integer - how many claims
// source: ours
MATCH (p:Process)
WHERE p.status = 'ready' AND p.project = $project
WITH p ORDER BY p.created_at DESC, p.process_id LIMIT $limit
OPTIONAL MATCH (c:Claim {process_id: p.process_id})
WHERE c.origin IS NULL
OPTIONAL MATCH (c)-[:IN_FORCE]->(v:Verification)
WITH p, coalesce(v.verdict, v.status, c.turn_status) AS verdict,
     v.verdict IS NOT NULL AND coalesce(v.indicative, false) AS indicative, coalesce(v.model, v.engine) AS judge,
     coalesce(v.error_stages, []) AS error_stages, count(c) AS claims
RETURN p.process_id AS process_id, p.name AS name, p.created_at AS created_at, p.tags AS tags,
       p.stage_names AS stage_names, p.terminals AS terminals, verdict, indicative,
       judge, error_stages, claims
ORDER BY created_at, process_id, verdict, indicative, judge, error_stages
