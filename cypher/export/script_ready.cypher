// purpose: Script: let readers see a process that was written whole.
// param process_id: string - the process
// column nodes: integer - how many nodes it has
// source: ours
MATCH (p:Process {process_id: $process_id})
SET p.status = 'ready'
RETURN p.nodes AS nodes
