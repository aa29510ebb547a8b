// purpose: Take back the wordings that an engine proposed for some sentences: all, or those of some modes. What is left is ranked no more: its rank was among the others.
// param process_id: string - the process
// param rows: list - [node_id, number of the sentence, modes] of each sentence; modes null: all
// param engine: string - the engine
// column done: integer - how many there were
// source: ours
UNWIND $rows AS row
MATCH (s:Span)<-[:SENTENCE_OF]-(n:Sentence)
WHERE s.process_id = $process_id AND s.node_id = row[0] AND n.index = row[1]
WITH n, row[2] AS modes  // without the node: every row would hold its whole text
MATCH (n)<-[:REVISES]-(old:Revision {engine: $engine})
SET old.rank = null
WITH old, modes
WHERE modes IS NULL OR old.mode IN modes
DETACH DELETE old
RETURN count(*) AS done
