// purpose: List what belongs to which community: entities, and communities to a larger one.
// column member: string - the engine's id of the entity or community
// column community: string - the engine's id of the community
// source: ours (IN_COMMUNITY and PARENT_COMMUNITY of LLM Graph Builder)
MATCH (m)-[:IN_COMMUNITY|PARENT_COMMUNITY]->(c:__Community__)
RETURN elementId(m) AS member, elementId(c) AS community
