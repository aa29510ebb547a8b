// purpose: List the chunks of a graph that another application wrote.
// column element_id: string - the engine's id of the node
// column id: any - the id that the application gave it
// column place: any - its place in its document
// column text: any - its text
// column document: any - name of its document
// column page: any - its page in the document
// source: ours (Chunk of neo4j-graphrag and LLM Graph Builder)
MATCH (c:Chunk)
RETURN elementId(c) AS element_id, c.id AS id, coalesce(c.position, c.index) AS place, c.text AS text, c.fileName AS document, c.page_number AS page
