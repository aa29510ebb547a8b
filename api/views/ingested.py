"""What became of a process that was to be stored, in one line of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from veritrail_graph.api.views.costs import counted


class Stored(Protocol):
    """What an ingest says of a process that it stored."""

    @property
    def process_id(self) -> str:
        """Its id."""

    @property
    def status(self) -> str:
        """What was done, such as `created`."""

    @property
    def nodes(self) -> int:
        """How many nodes it has."""

    @property
    def edges(self) -> int:
        """How many edges it has."""

    @property
    def claims(self) -> int:
        """How many claims it has."""

    @property
    def unsourced(self) -> int:
        """Nodes without recorded inputs that are no source text."""

    @property
    def inferred_edges(self) -> Mapping[str, int]:
        """Edges that the input does not name, by how they were found."""

    @property
    def warnings(self) -> Sequence[str]:
        """What the input did not hold."""


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
    def of(cls, where: str, found: Stored) -> StoredLine:
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
