// purpose: Store the edges of processes whose spans were stored in this transaction, and say how many were stored.
// param rows: list - [element id of the target, {cited, inferred, score} as far as they are known, [element id of a source, …]]
// column stored: integer - how many
// source: VeriTrail 2 (u was an input to the step that produced v)
UNWIND $rows AS row
MATCH (v)
WHERE elementId(v) = row[0]
UNWIND row[2] AS source
MATCH (u)
WHERE elementId(u) = source
CREATE (u)-[made:INPUT_TO]->(v)
SET made = row[1]
RETURN count(*) AS stored
