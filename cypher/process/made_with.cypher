// purpose: The models and prompts that final outputs were written with.
// param rows: list - {process_id, node_id} of the final outputs
// column process_id: string - the process
// column model: string - the model, or null
// column prompt: string - how the prompt begins, or null
// source: ours
UNWIND $rows AS row
MATCH (s:Span {process_id: row.process_id})
WHERE s.node_id = row.node_id
RETURN DISTINCT row.process_id AS process_id, s.model AS model, left(s.prompt, 100) AS prompt
ORDER BY process_id, model, prompt
