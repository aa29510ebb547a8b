// purpose: Look up entities that lack the label __Entity__.
// param ids: list - the engine's ids of the nodes
// column element_id: string - the engine's id of the node
// column labels: list - its labels
// column name: any - what it is called
// column description: any - its description, if it has one
// source: ours (HAS_ENTITY of LLM Graph Builder may lead to them)
UNWIND $ids AS id
MATCH (e)
WHERE elementId(e) = id
RETURN id AS element_id, labels(e) AS labels, coalesce(e.id, e.name, e.title) AS name, e.description AS description
