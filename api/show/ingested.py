"""Report processes that were to be stored: a line for each, and their warnings together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import Violation

_VARYING = re.compile(r"(?<!\w)'[^']*'(?!\w)(?:, '[^']*'(?!\w))*(?: and \d+ more)?|\d+(?:[.,]\d+)*")
"""What differs between warnings that say the same: names in quotes, and numbers."""

_EXAMPLES = 3


class Stored(Protocol):
    """The answer of an ingest about a process that it stored."""

    @property
    def process_id(self) -> str:
        """Its id."""

    @property
    def status(self) -> str:
        """Return what was done, such as `created`."""

    @property
    def nodes(self) -> int:
        """Return how many nodes it has."""

    @property
    def edges(self) -> int:
        """Return how many edges it has."""

    @property
    def claims(self) -> int:
        """Return how many claims it has."""

    @property
    def unsourced(self) -> int:
        """Nodes without recorded inputs that are no source text."""

    @property
    def inferred_edges(self) -> Mapping[str, int]:
        """Edges that the input does not name, by how they were found."""

    @property
    def explained(self) -> float | None:
        """Share of what generating steps were given that edges account for; None: not known."""

    @property
    def kept_as(self) -> str | None:
        """The process that what was replaced is kept as; None: it is not."""

    @property
    def warnings(self) -> Sequence[str]:
        """Return what the input did not hold."""


def edge_words(edges: int, inferred: Mapping[str, int]) -> str:
    """Return how many edges of each kind there are: `5 edges (1 explicit; inferred: 4 exact)`."""
    ways = ", ".join(f"{count:,} {how}" for how, count in inferred.items() if count)
    if not ways:
        return counted(edges, "edge")
    explicit = edges - sum(inferred.values())
    named = f"{explicit:,} explicit; " if explicit > 0 else ""
    return f"{counted(edges, 'edge')} ({named}inferred: {ways})"


def explained_words(share: float | None) -> str:
    """The share of inputs that edges account for: `93% explained`; empty where not known."""
    return "" if share is None else f"{share:.0%} explained"


def refusal(reason: str, violations: Sequence[Violation]) -> str:
    """Say why a process was not stored, with the first broken rule and how many more there are."""
    if not violations or violations[0].message in reason:
        return reason
    more = f"; and {len(violations) - 1:,} more" if len(violations) > 1 else ""
    return f"{reason.rstrip('.')}: {violations[0]}{more}"


@dataclass(frozen=True, slots=True)
class StoredLine:
    """The outcome of one process of several.

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
        facts = [counted(found.nodes, "node"), edge_words(found.edges, found.inferred_edges)]
        if explained := explained_words(found.explained):
            facts.append(explained)
        if found.claims:
            facts.append(counted(found.claims, "claim"))
        if found.unsourced:
            facts.append(f"{found.unsourced:,} unsourced")
        if found.kept_as:
            facts.append(f"the earlier content is kept as {found.kept_as}")
        if found.warnings:
            facts.append(counted(len(found.warnings), "warning"))
        return cls(where, found.process_id, found.status, tuple(facts))

    @classmethod
    def refused(cls, where: str, reason: str, violations: Sequence[Violation] = ()) -> StoredLine:
        """Of a process that was not stored."""
        return cls(where, None, None, (refusal(reason, violations),))


@dataclass(frozen=True, slots=True)
class SharedWarning:
    """A warning about one or more processes.

    Attributes:
        text: The warning; numbers that differ between the processes are a range, names `…`.
        process_ids: The processes that it is about, in their order.
    """

    text: str
    process_ids: tuple[str, ...]

    @property
    def about(self) -> str:
        """The processes: how many, and the first three."""
        shown = ", ".join(self.process_ids[:_EXAMPLES])
        more = len(self.process_ids) - _EXAMPLES
        also = f" and {more:,} more" if more > 0 else ""
        count = len(self.process_ids)
        return f"{count:,} process{'es' * (count != 1)}: {shown}{also}"


def shared_warnings(stored: Iterable[Stored]) -> list[SharedWarning]:
    """The warnings of processes, those that say the same together; the commonest first."""
    groups: dict[str, tuple[set[str], dict[str, None]]] = {}
    for one in stored:
        for warning in one.warnings:
            texts, ids = groups.setdefault(_VARYING.sub("…", warning), (set(), {}))
            texts.add(warning)
            ids[one.process_id] = None
    found = [
        SharedWarning(_together(shape, texts), tuple(ids)) for shape, (texts, ids) in groups.items()
    ]
    return sorted(found, key=lambda one: -len(one.process_ids))


def _together(shape: str, texts: set[str]) -> str:
    """Warnings of one shape as one; numbers that differ become a range."""
    if "…" in "".join(texts):  # then the places of what differs are not known
        return min(texts) if len(texts) == 1 else shape
    parts = map(_one_of, zip(*map(_VARYING.findall, texts), strict=True))
    rest = shape.split("…")
    return rest[0] + "".join(value + part for value, part in zip(parts, rest[1:], strict=True))


def _one_of(values: tuple[str, ...]) -> str:
    if len(set(values)) == 1:
        return values[0]
    numbers = {one: one.replace(",", "") for one in values}
    if not all(one.isdecimal() for one in numbers.values()):
        return "…"
    ordered = sorted(values, key=lambda one: int(numbers[one]))
    return f"{ordered[0]} to {ordered[-1]}"
