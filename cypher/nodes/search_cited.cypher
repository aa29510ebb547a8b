// purpose: Nodes of a process that is ready with sentences that are evidence, that pass a filter, with how they begin and how many neighbours they have.
// param process_id: string - the process
// param after_stage: integer - stage of the last node of the page before; -1 at first
// param after_position: integer - its place in the input; -1 at first
// param stage: integer - only nodes of this stage; null: of any
// param role: string - only root, intermediate, terminal or unsourced nodes; null: any
// param kind: string - only nodes of this kind; null: of any
// param text: string - only nodes whose text or id holds this, in capitals or not; null: any
// param excerpt: integer - the most characters of a text
// param limit: integer - at most this many
// column node_id: string - the node
// column stage: integer - its stage
// column position: integer - its place in the input
// column role: string - root, intermediate, terminal or unsourced
// column kind: string - what it is, or null
// column step: string - the step that produced it, or null
// column model: string - the model that produced it, or null
// column excerpt: string - how its text begins
// column length: integer - characters of its text
// column upstream: integer - how many source nodes it has
// column downstream: integer - how many nodes it was an input to
// column cited: integer - how many of its sentences are evidence
// source: VeriTrail 2
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
MATCH (n:Sentence {process_id: $process_id})-[:SENTENCE_OF]->(v:Span)
WITH DISTINCT v
WHERE (v.stage > $after_stage OR v.stage = $after_stage AND v.position > $after_position)
  AND ($stage IS NULL OR v.stage = $stage)
  AND ($role IS NULL OR v.role = $role)
  AND ($kind IS NULL OR v.kind = $kind)
  AND ($text IS NULL OR toLower(v.text) CONTAINS toLower($text)
       OR toLower(v.node_id) CONTAINS toLower($text))
WITH v ORDER BY v.stage, v.position LIMIT $limit
RETURN v.node_id AS node_id, v.stage AS stage, v.position AS position, v.role AS role,
       v.kind AS kind, v.step AS step, v.model AS model, left(v.text, $excerpt) AS excerpt,
       size(v.text) AS length,
       COUNT { (v)<-[:INPUT_TO]-() } AS upstream, COUNT { (v)-[:INPUT_TO]->() } AS downstream,
       COUNT { (v)<-[:SENTENCE_OF]-() } AS cited
ORDER BY stage, position
