// purpose: Check for nodes that belong to no stored process; reads every node once, so run it while nothing is ingested or deleted.
// param limit: integer = 100 in 1..10000 - at most this many
// column label: string - what the nodes are
// column process_id: string - the process that is not there
// column nodes: integer - how many
// column example: string - the smallest id of them
// group: Integrity: no rows on a sound graph
// example: limit=10
// source: ours
CALL () {
  MATCH (x:Span)
  RETURN 'Span' AS label, x.process_id AS process_id, count(x) AS nodes, min(x.node_id) AS example
  UNION ALL
  MATCH (x:Claim)
  RETURN 'Claim' AS label, x.process_id AS process_id, count(x) AS nodes, min(x.claim_id) AS example
  UNION ALL
  MATCH (x:Extraction)
  RETURN 'Extraction' AS label, x.process_id AS process_id, count(x) AS nodes,
         min(x.node_id) AS example
  UNION ALL
  MATCH (x:Sentence)
  RETURN 'Sentence' AS label, x.process_id AS process_id, count(x) AS nodes,
         min(x.node_id) AS example
  UNION ALL
  MATCH (x:Revision)
  RETURN 'Revision' AS label, x.process_id AS process_id, count(x) AS nodes,
         min(x.revision_id) AS example
  UNION ALL
  MATCH (x:Verification)
  RETURN 'Verification' AS label, x.process_id AS process_id, count(x) AS nodes,
         min(x.verification_id) AS example
  UNION ALL
  MATCH (x:TrailNode)
  RETURN 'TrailNode' AS label, x.process_id AS process_id, count(x) AS nodes,
         min(x.verification_id) AS example
  UNION ALL
  MATCH (x:Review)
  RETURN 'Review' AS label, x.process_id AS process_id, count(x) AS nodes,
         min(x.review_id) AS example
}
WITH label, process_id, nodes, example
// A node without process_id belongs to another application: ours always have one.
WHERE process_id IS NOT NULL AND NOT EXISTS {
  MATCH (p:Process)
  WHERE p.process_id = process_id
}
RETURN label, process_id, nodes, example
ORDER BY process_id, label
LIMIT $limit
