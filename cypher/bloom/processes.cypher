// purpose: Bloom, "Show all processes": the processes that are whole.
// column p: any - a process
// source: ours
MATCH (p:Process {status: 'ready'})
RETURN p
ORDER BY p.created_at DESC, p.process_id
LIMIT 1000
