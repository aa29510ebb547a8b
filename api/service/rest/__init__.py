"""REST: the graph over HTTP, for programs; see docs/rest.md."""

# Before any route is made: it says what `{name}` in a path means.
import veritrail_graph.api.service.http.paths  # noqa: F401
