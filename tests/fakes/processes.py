"""Processes in memory, as any importer would hand them over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from veritrail_graph.graph.importers.records import (
    ClaimRecord,
    EdgeRecord,
    Header,
    NodeRecord,
    Record,
)


@dataclass
class MemoryInput:
    """A `ProcessInput` over lists."""

    nodes: list[NodeRecord]
    edges: list[EdgeRecord]
    claims: list[ClaimRecord] = field(default_factory=list)
    header: Header = field(default_factory=lambda: Header("memory"))

    def records(self) -> Iterator[Record]:
        """Read the lists once from their beginning."""
        yield from self.nodes
        yield from self.edges
        yield from self.claims


def process(
    texts: dict[str, str],
    edges: Iterable[tuple[str, str]],
    claims: dict[str, str] | None = None,
    **header: object,
) -> MemoryInput:
    """A process from texts by node_id, edges as pairs, and claims by claim_id."""
    return MemoryInput(
        [NodeRecord(name, text, f"nodes {name!r}") for name, text in texts.items()],
        [EdgeRecord(a, b, f"edges {a!r}") for a, b in edges],
        [
            ClaimRecord(text, f"claims {name!r}", claim_id=name)
            for name, text in (claims or {}).items()
        ],
        Header("memory", **header),  # type: ignore[arg-type]
    )
