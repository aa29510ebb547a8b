// purpose: List the relationships of a graph that LightRAG stored.
// column labels: list - the labels of the entity that it leaves, of which the workspace is one
// column source: any - the name of the entity that it leaves
// column target: any - the name of the entity that it enters
// column keywords: any - its keywords
// column description: any - its description
// column source_id: any - the ids of its chunks, joined
// source: ours (Neo4JStorage of LightRAG)
MATCH (a)-[r:DIRECTED]->(b)
WHERE a.entity_id IS NOT NULL AND b.entity_id IS NOT NULL
RETURN labels(a) AS labels, a.entity_id AS source, b.entity_id AS target, r.keywords AS keywords, r.description AS description, r.source_id AS source_id
