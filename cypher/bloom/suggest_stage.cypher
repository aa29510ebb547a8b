// purpose: Bloom, suggestions for $stage: the stages of all processes.
// column stage: integer - what to put in for $stage
// source: ours
MATCH (p:Process {status: 'ready'})
UNWIND p.stages AS stage
RETURN DISTINCT stage
ORDER BY stage
LIMIT 1000
