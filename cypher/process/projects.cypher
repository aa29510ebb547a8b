// purpose: Projects of processes that are ready, with the number of their processes.
// column project: string - the project
// column processes: integer - how many processes it has
// column latest_at: string - when the latest of them was stored
// source: ours
MATCH (p:Process)
WHERE p.status = 'ready' AND p.project IS NOT NULL
RETURN p.project AS project, count(p) AS processes, max(p.created_at) AS latest_at
ORDER BY project
