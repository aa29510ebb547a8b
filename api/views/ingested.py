"""What became of a process that was to be stored, in one line of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.api.views.costs import counted

if TYPE_CHECKING:
    from veritrail_graph.api.app.answers import Ingested


@dataclass(frozen=True, slots=True)
class StoredLine:
    """What became of one process of several.

    Attributes:
        where: Where it stood in the input.
        process_id: Its id; None: it was not stored.
        status: What was done, such as `created`; None: it was not stored.
        facts: What is stored, each in a few words; or the one reason why nothing is.
    """

    where: str
    process_id: str | None
    status: str | None
    facts: tuple[str, ...]

    @property
    def words(self) -> str:
        """Status and facts, or the reason."""
        return ", ".join(self.facts if self.status is None else (self.status, *self.facts))

    @classmethod
    def of(cls, where: str, found: Ingested) -> StoredLine:
        """Of a process that was stored."""
        edges = counted(found.edges, "edge")
        if inferred := sum(found.inferred_edges.values()):
            edges += f" ({inferred:,} inferred)"
        facts = [counted(found.nodes, "node"), edges]
        if found.claims:
            facts.append(counted(found.claims, "claim"))
        if found.unsourced:
            facts.append(f"{found.unsourced:,} unsourced")
        if found.warnings:
            facts.append(counted(len(found.warnings), "warning"))
        return cls(where, found.process_id, found.status, tuple(facts))

    @classmethod
    def refused(cls, where: str, reason: str) -> StoredLine:
        """Of a process that was not stored."""
        return cls(where, None, None, (reason,))
