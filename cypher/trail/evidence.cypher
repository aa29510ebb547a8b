// purpose: Write evidence of iterations, beyond that of the first statement of its trail.
// param process_id: string - the process; it must be ready
// param rows: list - [verification_id, number of the iteration, properties]
// source: VeriTrail 3.1.2 (summaries of the evidence)
MATCH (p:Process {process_id: $process_id})
WHERE p.status = 'ready'
UNWIND $rows AS row
MATCH (i:Iteration {verification_id: row[0], number: row[1]})
CREATE (i)-[:FOUND]->(e:Evidence)
SET e = row[2]
