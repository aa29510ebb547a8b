"""The node as the walk knows it: a slotted value, as there may be a hundred thousand of them.

Source: VeriTrail 2 (the conceptual framework).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice, repeat
from operator import attrgetter, eq
from typing import TYPE_CHECKING, Any, TypeVar


class Role(StrEnum):
    """What a node is to its process. Source: VeriTrail 2; `unsourced` is ours.

    An unsourced node has no recorded inputs and is no source text either: a claim is never
    checked against it, and it may be where an error came in.
    """

    ROOT = "root"
    INTERMEDIATE = "intermediate"
    TERMINAL = "terminal"
    UNSOURCED = "unsourced"


class Origin(StrEnum):
    """Where the text of a node comes from, which decides whether it counts as true.

    Attributes:
        SOURCE: Text that counts as true.
        GENERATED: Text that the process wrote.
        GIVEN: Said by a person or a program that is no source, such as a user's turn.
    """

    SOURCE = "source"
    GENERATED = "generated"
    GIVEN = "given"


T = TypeVar("T")


def of_columns(cls: type[T], count: int, *columns: Iterable[Any]) -> list[T]:
    """Many values of a slotted class at once, in a third of the time that one by one takes.

    Args:
        cls: A class whose slots are all of its fields.
        count: How many values there are.
        columns: The values of each field, in the order of the fields.
    """
    made = list(map(cls.__new__, repeat(cls, count)))
    for name, column in zip(cls.__slots__, columns, strict=True):  # type: ignore[attr-defined]
        # The slots themselves: the constructor of a frozen class goes a longer way to them.
        deque(map(getattr(cls, name).__set__, made, column), maxlen=0)
    return made


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node without its text: what the walk needs to know of it.

    Of a node that was read from JSON only the id is known; all else is None then.

    Attributes:
        node_id: The node's id in its process.
        stage: Its place in the generative process (an integer >= 0).
        position: Its place in the input, counted from 0.
        role: Root, intermediate, terminal or unsourced.
    """

    node_id: str
    stage: int | None
    position: int | None
    role: Role | None

    if not TYPE_CHECKING:  # a checker is to find names that are not there

        def __getattr__(self, name: str) -> Any:
            """Say how its text is read."""
            reads = ": nodes_by_id(process_id, [node_id]) of a client reads it"
            meant = reads if name == "text" else ""
            raise AttributeError(f"'NodeRef' object has no attribute {name!r}{meant}")

    def __hash__(self) -> int:
        return hash(self.node_id)  # ids differ within a process; frontiers are sets of thousands

    @classmethod
    def named(cls, node_id: str) -> NodeRef:
        """A node of which only the id is known."""
        return cls(node_id, None, None, None)

    @classmethod
    def of_columns(
        cls,
        node_ids: Sequence[str],
        stages: Sequence[int],
        positions: Sequence[int],
        roles: Iterable[Role],
    ) -> list[NodeRef]:
        """Many nodes at once; see `of_columns`."""
        return of_columns(cls, len(node_ids), node_ids, stages, positions, roles)

    @property
    def known_stage(self) -> int:
        """The stage of a node that was read from a graph.

        Raises:
            LookupError: Only the id of this node is known.
        """
        if self.stage is None:
            raise LookupError(f"the stage of node {self.node_id!r} is not known")
        return self.stage

    @property
    def is_root(self) -> bool:
        """Return whether the node is source material, which a claim is checked against."""
        return self.role is Role.ROOT

    @property
    def is_unsourced(self) -> bool:
        """Return whether what the node was made from was not recorded, and it is no source text."""
        return self.role is Role.UNSOURCED


frontier_order = attrgetter("stage", "position", "node_id")
"""Sort key of nodes in a frontier: stage, then place in the input, then id."""
_position, _stage = attrgetter("position"), attrgetter("stage")


def in_order(nodes: Iterable[NodeRef]) -> tuple[NodeRef, ...]:
    """Nodes in the order in which they go into prompts: stage, position, node_id.

    Source: VeriTrail 3.1.4 (candidate nodes); the order is ours.
    """
    ordered = sorted(nodes, key=_position)  # by one number: a frontier may have 100,000 nodes
    places = list(map(_position, ordered))
    is_unique = not any(map(eq, places, islice(places, 1, None)))
    ordered.sort(key=_stage if is_unique else frontier_order)
    return tuple(ordered)
