// purpose: Check for nodes of claims and trails without their relationships; reads every one of them once.
// param limit: integer = 100 in 1..10000 - at most this many
// column label: string - what the node is
// column id: string - its id, or that of what it belongs to
// column problem: string - what is missing
// group: Integrity: no rows on a sound graph
// example: limit=10
// source: ours
CALL () {
  MATCH (x:Claim)
  WHERE NOT EXISTS { (x)-[:EXTRACTED_FROM]->(:Span) }
  RETURN 'Claim' AS label, x.claim_id AS id, 'is not extracted from any span' AS problem
  UNION ALL
  MATCH (x:Extraction)
  WHERE NOT EXISTS { (x)-[:EXTRACTION_OF]->(:Span) }
  RETURN 'Extraction' AS label, x.node_id AS id, 'is in no span' AS problem
  UNION ALL
  MATCH (x:Verification)
  WHERE NOT EXISTS { (x)-[:VERIFIES]->(:Claim) }
  RETURN 'Verification' AS label, x.verification_id AS id, 'verifies no claim' AS problem
  UNION ALL
  MATCH (x:Review)
  WHERE NOT EXISTS { (x)-[:REVIEWS]->(:Claim) }
  RETURN 'Review' AS label, x.review_id AS id, 'reviews no claim' AS problem
  UNION ALL
  MATCH (x:Iteration)
  WHERE NOT EXISTS { (x)<-[:HAS_ITERATION]-(:Verification) }
  RETURN 'Iteration' AS label, x.verification_id AS id, 'belongs to no verification' AS problem
  UNION ALL
  MATCH (x:Step)
  WHERE NOT EXISTS { (x)<-[:TOOK]-(:Verification) }
  RETURN 'Step' AS label, x.verification_id AS id, 'belongs to no verification' AS problem
  UNION ALL
  MATCH (x:TrailNode)
  WHERE NOT EXISTS { (x)-[:AT]->(:Span) }
  RETURN 'TrailNode' AS label, x.verification_id AS id, 'is at no span' AS problem
  UNION ALL
  MATCH (x:TrailNode)
  WHERE NOT EXISTS { (x)-[:LEADS_TO]->() }
  RETURN 'TrailNode' AS label, x.verification_id AS id, 'leads nowhere' AS problem
  UNION ALL
  MATCH (x:Evidence)
  WHERE NOT EXISTS { (x)<-[:FOUND]-(:Iteration) }
  RETURN 'Evidence' AS label, x.evidence_id AS id, 'was found in no iteration' AS problem
  UNION ALL
  MATCH (x:Evidence)
  WHERE NOT EXISTS { (x)-[:CITES]->(:Sentence) }
  RETURN 'Evidence' AS label, x.evidence_id AS id, 'cites no sentence' AS problem
  UNION ALL
  MATCH (x:Sentence)
  WHERE x.attributed_in IS NULL AND NOT EXISTS { (x)<-[:CITES]-(:Evidence) }
    AND NOT EXISTS { (x)<-[:ATTRIBUTED_TO]-(:Sentence) }
  RETURN 'Sentence' AS label, x.node_id AS id, 'is cited by no evidence' AS problem
  UNION ALL
  MATCH (x:Sentence)
  WHERE NOT EXISTS { (x)-[:SENTENCE_OF]->(:Span) }
  RETURN 'Sentence' AS label, x.node_id AS id, 'is in no span' AS problem
  UNION ALL
  MATCH (x:Revision)
  WHERE NOT EXISTS { (x)-[:REVISES]->(:Sentence) }
  RETURN 'Revision' AS label, x.revision_id AS id, 'revises no sentence' AS problem
}
// A node without our key belongs to another application.
WITH label, id, problem
WHERE id IS NOT NULL
RETURN label, id, problem
ORDER BY label, problem, id
LIMIT $limit
