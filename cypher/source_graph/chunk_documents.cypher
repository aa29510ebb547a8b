// purpose: List which document each chunk is a part of.
// column chunk: string - the engine's id of the chunk
// column document: string - the engine's id of the document
// source: ours (FROM_DOCUMENT of neo4j-graphrag, PART_OF of LLM Graph Builder)
MATCH (c:Chunk)-[:PART_OF|FROM_DOCUMENT]->(d:Document)
RETURN elementId(c) AS chunk, elementId(d) AS document
