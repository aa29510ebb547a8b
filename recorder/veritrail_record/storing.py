"""Store a recording in the graph and verify it, with the client in process of veritrail-graph.

These are the only calls of a recording that need veritrail-graph. It is imported when they come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veritrail_graph.api.client import Local
    from veritrail_graph.api.client.answers import Ingested
    from veritrail_graph.graph.model import Verification

NOT_INSTALLED = "veritrail-graph is not installed; pip install veritrail-graph"


def has_graph() -> bool:
    """Return whether veritrail-graph is installed; it is not imported for that."""
    from importlib.util import find_spec

    return find_spec("veritrail_graph") is not None


def graph() -> Local:
    """Open the graph of the settings."""
    from veritrail_graph.api.client import Local

    return Local()


def store(graph: Local, path: Path, *, replace: bool = False) -> Ingested:
    """Store the process of a file; `replace` another content that is stored under its id."""
    return graph.ingest(path, replace=replace)


def verify(graph: Local, stored: Ingested, options: Mapping[str, Any]) -> Sequence[Verification]:
    """Verify the claims of a stored process; without any, extract them, which needs a model.

    Args:
        graph: The graph.
        stored: What was stored.
        options: What `Local.verify` takes besides.
    """
    extracts = {} if stored.claims else {"extract": True}
    return graph.verify(stored.process_id, **{**extracts, **options}).wait().verifications()
