// purpose: A piece of the text of a node of a process that is ready, with what else there is to read of it.
// param process_id: string - the process
// param node_id: string - the node
// param start: integer - where the piece begins, in characters
// param length: integer - how many of them it has at most
// param longest: integer - the most characters of prompt and metadata
// column piece: string - the piece
// column length: integer - characters of the whole text
// column prompt: string - the prompt that it was written with, or null
// column metadata: string - all else that the input says of it, as JSON, or null
// column origin: string - source, generated or given
// column question: string - the question that it answers, or null
// source: VeriTrail 2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (v:Span {process_id: $process_id, node_id: $node_id})
RETURN substring(v.text, $start, $length) AS piece, size(v.text) AS length,
       left(v.prompt, $longest) AS prompt, left(v.metadata, $longest) AS metadata,
       v.origin AS origin, left(v.question, $longest) AS question
