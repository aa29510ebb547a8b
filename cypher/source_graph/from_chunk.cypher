// purpose: List which entity was found in which chunk, where the relationship enters the chunk.
// column entity: string - the engine's id of the entity
// column chunk: string - the engine's id of the chunk
// source: ours (FROM_CHUNK of neo4j-graphrag)
MATCH (e)-[:FROM_CHUNK]->(c:Chunk)
RETURN elementId(e) AS entity, elementId(c) AS chunk
