// purpose: What is long of nodes: their texts, prompts and metadata.
// param process_id: string - the process
// param node_ids: list - the nodes
// column node_id: string - the node
// column text: string - its text
// column prompt: string - the prompt that it was written with, or null
// column metadata: string - all else that the input says of it, as JSON, or null
// source: VeriTrail 2
UNWIND $node_ids AS node_id
MATCH (v:Span)
WHERE v.process_id = $process_id AND v.node_id = node_id
RETURN v.node_id AS node_id, v.text AS text, v.prompt AS prompt, v.metadata AS metadata
