// purpose: Check a process's recorded counts against what is stored; reads every node once.
// param process_id: string - the process
// column what: string - nodes, edges, or the nodes of a stage
// column recorded: integer - as the process says
// column found: integer - as stored
// group: Integrity: no rows on a sound graph
// example: process_id=harbour-summary
// source: ours
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
OPTIONAL MATCH (s:Span)
WHERE s.process_id = p.process_id AND s.node_id >= ''
WITH p, s.stage AS stage, count(s) AS nodes, sum(COUNT { (s)-[:INPUT_TO]->() }) AS edges
WITH p, collect({stage: stage, nodes: nodes}) AS found, sum(nodes) AS nodes, sum(edges) AS edges
WITH [{what: 'nodes', recorded: p.nodes, found: nodes},
      {what: 'edges', recorded: p.edges, found: edges}]
     + [place IN range(0, size(p.stages) - 1) | {
         what: 'nodes of stage ' + toString(p.stages[place]),
         recorded: p.stage_counts[place],
         found: coalesce(head([row IN found WHERE row.stage = p.stages[place] | row.nodes]), 0)
       }]
     + [row IN found WHERE row.stage IS NOT NULL AND NOT row.stage IN p.stages | {
         what: 'nodes of stage ' + toString(row.stage), recorded: 0, found: row.nodes
       }] AS rows
UNWIND rows AS row
WITH row WHERE row.recorded <> row.found
RETURN row.what AS what, row.recorded AS recorded, row.found AS found
