"""VeriTrail Graph: where did that come from, and where did it go wrong?

The public names of the package. Each is imported when it is first used, so that importing the
package, as the command line does, costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veritrail_graph.api.client import AsyncClient, AsyncLocal, Client, Local

__all__ = ["AsyncClient", "AsyncLocal", "Client", "Local", "__version__"]

_PLACES = dict.fromkeys(("AsyncClient", "AsyncLocal", "Client", "Local"), "api.client")


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name == "__version__":
        from importlib.metadata import version

        return version("veritrail-graph")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
