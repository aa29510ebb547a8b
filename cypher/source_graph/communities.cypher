// purpose: List the communities of a graph that another application wrote.
// column element_id: string - the engine's id of the node
// column id: any - the id that the application gave it
// column level: any - its level
// column title: any - its title
// column summary: any - its summary, if it has one
// source: ours (__Community__ of LLM Graph Builder)
MATCH (c:__Community__)
RETURN elementId(c) AS element_id, c.id AS id, c.level AS level, c.title AS title, c.summary AS summary
