// purpose: List the relationships between entities that hold a description.
// column element_id: string - the engine's id of the relationship
// column source: string - the engine's id of the entity that it leaves
// column type: string - its type
// column target: string - the engine's id of the entity that it enters
// column description: any - its description
// source: ours (neo4j-graphrag and LLM Graph Builder)
MATCH (a:__Entity__)-[r]->(b:__Entity__)
WHERE r.description IS NOT NULL
RETURN elementId(r) AS element_id, elementId(a) AS source, type(r) AS type, elementId(b) AS target, r.description AS description
