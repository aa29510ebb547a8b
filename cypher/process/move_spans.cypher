// purpose: Give stored spans the stage, role and origin that they have after something was appended, and their places in evidence trails too.
// param process_id: string - the process
// param rows: list - [node_id, stage, role, origin]
// source: VeriTrail 2 (stages and roles follow from the whole graph)
UNWIND $rows AS row
MATCH (s:Span)
WHERE s.process_id = $process_id AND s.node_id = row[0]
SET s.stage = row[1], s.role = row[2], s.origin = row[3]
WITH s, row
MATCH (s)<-[:AT]-(t:TrailNode)
SET t.stage = row[1], t.role = row[2]
