// purpose: Read one property of some nodes.
// param ids: list - the engine's ids of the nodes
// param property: string - text, description or summary
// column element_id: string - the engine's id of the node
// column text: any - the value of the property
// source: ours
UNWIND $ids AS id
MATCH (n)
WHERE elementId(n) = id
RETURN id AS element_id, n[$property] AS text
