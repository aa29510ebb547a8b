// purpose: Write proposed wordings of sentences; the sentences stay as they are.
// param process_id: string - the process
// param rows: list - {node_id, index, start, end, properties}
// column done: integer - how many were written
// source: Error-tolerant attribution 7
UNWIND $rows AS row
MATCH (n:Sentence)
WHERE n.process_id = $process_id AND n.node_id = row.node_id AND n.index = row.index
  AND n.start = row.start AND n.end = row.end
CREATE (x:Revision)
SET x = row.properties
CREATE (x)-[:REVISES]->(n)
RETURN count(x) AS done
