// purpose: Script: write what iterations found.
// param rows: list - [verification_id, number of the iteration, properties]
// source: VeriTrail 3.1.2
UNWIND $rows AS row
MATCH (i:Iteration {verification_id: row[0], number: row[1]})
CREATE (e:Evidence)
SET e = row[2]
CREATE (i)-[:FOUND]->(e)
