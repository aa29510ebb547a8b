// purpose: What the graph engine says of itself.
// column name: string - of the component
// column versions: list - its versions
// column edition: string - such as community or enterprise
// source: ours
CALL dbms.components() YIELD name, versions, edition
RETURN name, versions, edition
