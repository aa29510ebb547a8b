"""What REST and the page share of HTTP: who asks, limits, problems, lists by the page."""

# Before any route is made: it says what `{name}` in a path means.
import veritrail_graph.api.service.http.paths  # noqa: F401
