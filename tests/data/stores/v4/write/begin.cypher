// purpose: Open a process for loading; readers do not see it until it is ready.
// param properties: map - all properties of the process, its status among them
// source: ours
CREATE (p:Process)
SET p = $properties
