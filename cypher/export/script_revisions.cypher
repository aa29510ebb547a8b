// purpose: Script: write proposed wordings with the sentences that they are about.
// param process_id: string - the process
// param rows: list - properties of each wording
// source: Error-tolerant attribution 7
UNWIND $rows AS row
MATCH (n:Sentence)
WHERE n.process_id = $process_id AND n.node_id = row.node_id AND n.index = row.index
  AND n.start = row.start AND n.end = row.end
CREATE (x:Revision)
SET x = row
CREATE (x)-[:REVISES]->(n)
