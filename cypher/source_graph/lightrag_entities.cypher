// purpose: List the entities of a graph that LightRAG stored.
// column labels: list - its labels, of which the workspace is one
// column name: any - its name
// column entity_type: any - its type
// column description: any - its description
// column source_id: any - the ids of its chunks, joined
// source: ours (Neo4JStorage of LightRAG)
MATCH (e)
WHERE e.entity_id IS NOT NULL
RETURN labels(e) AS labels, e.entity_id AS name, e.entity_type AS entity_type, e.description AS description, e.source_id AS source_id
