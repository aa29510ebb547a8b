// purpose: Script: open a process; readers do not see it until it is ready.
// param properties: map - its properties
// source: ours
CREATE (p:Process)
SET p = $properties
