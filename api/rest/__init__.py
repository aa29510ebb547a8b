"""REST: the graph over HTTP, for programs; see docs/rest.md."""

# Before any route is made: it says what `{name}` in a path stands for.
import veritrail_graph.api.http.paths  # noqa: F401
