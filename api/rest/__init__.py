"""REST: the graph over HTTP, for programs; see docs/rest.md."""
