// purpose: How many edges of a process are stored, to be held against the input.
// param process_id: string - the process
// column edges: integer - how many
// source: ours
MATCH (v:Span {process_id: $process_id})<-[r:INPUT_TO]-()
RETURN count(r) AS edges
