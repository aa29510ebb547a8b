// purpose: List the documents of a graph that another application wrote.
// column element_id: string - the engine's id of the node
// column name: any - what it is called
// column text: any - its text, where the document itself holds one
// source: ours (Document of neo4j-graphrag, LLM Graph Builder and LangChain)
MATCH (d:Document)
RETURN elementId(d) AS element_id, coalesce(d.fileName, d.path, d.source, d.name, d.title, d.id) AS name, d.text AS text
