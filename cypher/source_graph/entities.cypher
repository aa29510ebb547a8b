// purpose: List the entities of a graph that another application wrote.
// column element_id: string - the engine's id of the node
// column labels: list - its labels
// column name: any - what it is called
// column description: any - its description, if it has one
// source: ours (__Entity__ of neo4j-graphrag and LLM Graph Builder)
MATCH (e:__Entity__)
RETURN elementId(e) AS element_id, labels(e) AS labels, coalesce(e.id, e.name, e.title) AS name, e.description AS description
