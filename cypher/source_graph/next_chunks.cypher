// purpose: List which chunk follows which.
// column chunk: string - the engine's id of the chunk
// column next: string - the engine's id of the one behind it
// source: ours (NEXT_CHUNK of both applications)
MATCH (c:Chunk)-[:NEXT_CHUNK]->(d:Chunk)
RETURN elementId(c) AS chunk, elementId(d) AS next
