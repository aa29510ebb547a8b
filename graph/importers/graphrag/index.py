"""What an index holds, as nodes without their texts: ids, stages and source nodes.

Texts stay in the files until the records are read: memory grows with ids and edges only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers.graphrag.tables import Row, Table, as_number

EXAMPLES = 3


@dataclass(slots=True)
class Placed:
    """A node in its place.

    Attributes:
        node_id: Kind and number, as in `entity/5`.
        stage: Its stage in the process.
        step: The step of the pipeline that produced it.
        sources: Its source nodes, and whether it cites them (None: no way to tell).
        part: Which description of its row it is, where a row holds several.
    """

    node_id: str
    stage: int
    step: str
    sources: dict[str, bool | None] = field(default_factory=dict)
    part: int = 0


@dataclass(slots=True)
class Part:
    """The nodes that one table became, by row; a row may become none, one or several."""

    kind: str
    table: Table
    places: list[tuple[Placed, ...]] = field(default_factory=list)

    @property
    def placed(self) -> Iterable[Placed]:
        """All nodes, in the order of the rows."""
        return (node for row in self.places for node in row)


@dataclass(slots=True)
class Index:
    """Stages 1 to 4 of a process.

    Attributes:
        parts: One for each table that became nodes, in the order in which they are read out.
        numbers: Nodes by kind and by the number with which GraphRAG cites them.
        levels: Level of each report.
        communities: Entities and level of each community, by number.
        warnings: What the folder does not hold, and how that was bridged.
    """

    parts: list[Part] = field(default_factory=list)
    numbers: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    levels: dict[str, int] = field(default_factory=dict)
    communities: dict[int, tuple[int, frozenset[str]]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def number(self, kind: str, number: int | None, node_id: str) -> None:
        """Note the number with which a node is cited; a number may name several."""
        if number is not None:
            self.numbers.setdefault(kind, {}).setdefault(number, []).append(node_id)

    def forget(self, kind: str, number: int | None, node_id: str) -> None:
        """Take back a number that was noted for a node."""
        if number is not None:
            self.numbers[kind][number].remove(node_id)

    def cited(self, kind: str, number: int) -> Sequence[str]:
        """The nodes that a number names; none when the folder does not hold it."""
        return self.numbers.get(kind, {}).get(number, ())


def shown(items: Iterable[object]) -> str:
    """How many there are, and the first few of them."""
    listed = [str(item) for item in items]
    first = ", ".join(item if len(item) <= 60 else item[:57] + "…" for item in listed[:EXAMPLES])
    return (
        f"{len(listed)} (for example {first})"
        if len(listed) > EXAMPLES
        else (f"{len(listed)} ({first})")
    )


def parquet_ids(table: Table, rows: Sequence[Row]) -> list[str]:
    """The ids of the rows, each there once.

    Raises:
        InputError: An id is empty or there twice.
    """
    ids = [row["id"] for row in rows]
    problems = [
        Violation("empty_id", table.where(place), "has no id; every row needs one")
        for place, key in enumerate(ids)
        if not key
    ]
    problems += [
        Violation("repeated_id", str(table.path), f"the id {key!r} is there {times} times")
        for key, times in Counter(filter(None, ids)).items()
        if times > 1
    ]
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems[:20])
        raise InputError(f"{table.path} has wrong ids:\n{listed}", problems)
    return ids


def node_ids(kind: str, keys: Sequence[str], numbers: Sequence[int | None]) -> list[str]:
    """Readable ids, `kind/number`, or `kind/parquet id` for a table whose numbers are not unique.

    The whole table changes over, so that an id never depends on the order of its rows.
    """
    unique = None not in numbers and len(set(numbers)) == len(numbers)
    return [f"{kind}/{name}" for name in (numbers if unique else keys)]


def human_numbers(rows: Sequence[Row], column: str = "human_readable_id") -> list[int | None]:
    """The numbers that people and citations know the rows by."""
    return [as_number(row.get(column)) for row in rows]
