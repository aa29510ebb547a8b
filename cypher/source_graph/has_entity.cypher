// purpose: List which entity was found in which chunk, where the relationship leaves the chunk.
// column entity: string - the engine's id of the entity
// column chunk: string - the engine's id of the chunk, or of the document that has no chunks
// source: ours (HAS_ENTITY of LLM Graph Builder, MENTIONS of LangChain)
MATCH (c)-[:HAS_ENTITY|MENTIONS]->(e)
WHERE c:Chunk OR c:Document
RETURN elementId(e) AS entity, elementId(c) AS chunk
