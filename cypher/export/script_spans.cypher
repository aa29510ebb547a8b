// purpose: Script: write nodes.
// param rows: list - properties of each node
// source: VeriTrail 2
UNWIND $rows AS row
CREATE (s:Span)
SET s = row
