"""Store a recording in the graph and verify it, with the client in process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.client import Local

if TYPE_CHECKING:
    from veritrail_graph.api.client.answers import Ingested
    from veritrail_graph.graph.model import Verification


def graph() -> Local:
    """The graph of the settings."""
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
