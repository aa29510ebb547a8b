// purpose: Where the last attributed sentence of a node before a sentence with a number is.
// param process_id: string - the process
// param node_id: string - the node
// param number: integer - the number of the sentence, counted from 0
// column start: integer - offset of its first character
// column end: integer - the offset just behind it
// column index: integer - its number in the node
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (n:Sentence {process_id: $process_id, node_id: $node_id})
WHERE n.attributed_in IS NOT NULL AND n.index < $number
RETURN n.start AS start, n.end AS end, n.index AS index
ORDER BY start DESC, end DESC LIMIT 1
