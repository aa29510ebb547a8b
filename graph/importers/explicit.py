"""The process that is left when edges that its input does not name are left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from veritrail_graph.graph.importers.records import (
    EdgeRecord,
    Header,
    NodeRecord,
    ProcessInput,
    Record,
    TrailInput,
    TrailRecord,
)
from veritrail_graph.graph.model import Origin


def without_inferred(header: Header, count: int, explained: float | None = None) -> Header:
    """A header that says how many inferred edges are left out.

    Several nodes without an edge are no fault: what was made of texts that are not named is
    `unsourced`.

    Args:
        header: The header with all edges.
        count: How many are left out.
        explained: The share that the others explain; None: it is not known.
    """
    said = (
        f"{count} inferred edge(s) are left out, as asked: the input does not name what these texts"
        " were made of. A generated text without any other edge is unsourced."
    )
    return replace(
        header, warnings=(*header.warnings, said), explained=explained, may_lack_edges=True
    )


@dataclass(frozen=True, slots=True)
class ExplicitInput:
    """An input without the edges that a reader inferred.

    A text that only such edges lead to stays what it was: generated, and no source text.
    """

    source: ProcessInput
    _targets: list[str] = field(default_factory=list)
    _looked: list[bool] = field(default_factory=list)

    @property
    def header(self) -> Header:
        """Return what the input says of the process as a whole, and how many edges are left out."""
        header, targets = self.source.header, self._left_out()
        return without_inferred(header, len(targets)) if targets else header

    def records(self) -> Iterator[Record]:
        """Read the input once from its beginning, without inferred edges."""
        made = frozenset(self._left_out())
        for one in self.source.records():
            if isinstance(one, EdgeRecord) and one.inferred is not None:
                continue
            if isinstance(one, NodeRecord) and one.origin is None and one.node_id in made:
                yield replace(one, origin=Origin.GENERATED)
            else:
                yield one

    def trails(self) -> Iterator[TrailRecord]:
        """Read what it carries besides once from the beginning."""
        if isinstance(self.source, TrailInput):
            yield from self.source.trails()

    def _left_out(self) -> list[str]:
        """Return where the inferred edges lead to, of one reading of the input."""
        if not self._looked:
            self._looked.append(True)
            self._targets.extend(
                one.target
                for one in self.source.records()
                if isinstance(one, EdgeRecord) and one.inferred is not None
            )
        return self._targets
