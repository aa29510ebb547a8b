// purpose: Count the conversations that an application keeps in the graph.
// column chats: integer - how many
// source: ours (Session and Message of neo4j-graphrag and LangChain)
MATCH (s:Session)-[:LAST_MESSAGE]->(m:Message)
RETURN count(s) AS chats
