"""The HTTP parts of REST and the page: the caller, limits, problems, lists by the page."""

# Before any route is made: it says what `{name}` in a path means.
import veritrail_graph.api.service.http.paths  # noqa: F401
