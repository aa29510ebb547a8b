// purpose: Script: write what sentences are attributed to.
// param process_id: string - the process
// param rows: list - [node_id, index, start, end, node_id, index, start, end, properties]
// source: Error-tolerant attribution 3
UNWIND $rows AS row
MATCH (n:Sentence)
WHERE n.process_id = $process_id AND n.node_id = row[0] AND n.index = row[1]
  AND n.start = row[2] AND n.end = row[3]
MATCH (m:Sentence)
WHERE m.process_id = $process_id AND m.node_id = row[4] AND m.index = row[5]
  AND m.start = row[6] AND m.end = row[7]
CREATE (n)-[r:ATTRIBUTED_TO]->(m)
SET r = row[8]
