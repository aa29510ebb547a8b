"""What is looked at in a graph, as the address of the page says it, and as addresses say it again.

What was opened is a list of places, oldest first: `cU7DcU` means that the sources of the node at
place 12 (`c`, to the base 36) of the input were shown, then what the node at place 7 feeds, then
more sources of the first. So a link stays short however long ids are; what does not fit is told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from veritrail_graph.graph.store.lineage import Direction
from veritrail_graph.graph.store.listed_nodes import ANY_NODE, NodeQuery

MOST_DRAWN = 300
"""Nodes of a picture; what is beyond stands in lists."""

AT_A_TIME = 25
"""Nodes that are shown with one click."""

MOST_OPENED = 60
"""Places that an address lists as opened; the oldest are kept."""

_OPENED = re.compile(r"([0-9a-z]{1,8})([UD])")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_WAYS = {"U": Direction.UPSTREAM, "D": Direction.DOWNSTREAM}
_LETTERS = {way: letter for letter, way in _WAYS.items()}


@dataclass(frozen=True, slots=True)
class Opened:
    """A node whose neighbours on one side were shown, by its place in the input."""

    position: int
    way: Direction

    @property
    def word(self) -> str:
        """As it stands in an address."""
        return f"{_base_36(self.position)}{_LETTERS[self.way]}"


@dataclass(frozen=True, slots=True)
class Selection:
    """What is looked at.

    Attributes:
        claim: A claim whose evidence trail is drawn.
        verification: The verification whose trail it is; None: the claim's latest.
        node: A node that is begun with.
        opened: What was opened, oldest first; None: nothing was said, and a start is made.
        at: The node whose text is shown beside the picture, by its place in the input.
        wanted: Which nodes are listed.
        everywhere: Whether nodes of the whole process are listed, and not of the picture.
        cursor: Where the list goes on.
        left_out: How many opened places the address had beyond those that are kept.
    """

    claim: str | None = None
    verification: str | None = None
    node: str | None = None
    opened: tuple[Opened, ...] | None = None
    at: int | None = None
    wanted: NodeQuery = ANY_NODE
    everywhere: bool = False
    cursor: str | None = None
    left_out: int = 0

    @property
    def is_focused(self) -> bool:
        """Whether there is something to begin with; else stages are drawn."""
        return any((self.claim, self.verification, self.node))

    @property
    def can_open(self) -> bool:
        """Whether the address has room for one more."""
        return len(self.opened or ()) < MOST_OPENED

    @property
    def query(self) -> list[tuple[str, str]]:
        """All of it but the cursor, as names and values of an address."""
        wanted = self.wanted
        given = {
            "claim": self.claim,
            "verification": self.verification,
            "node": self.node,
            "open": None if self.opened is None else "".join(one.word for one in self.opened),
            "at": self.at,
            "q": wanted.text,
            "stage": wanted.stage,
            "role": wanted.role.value if wanted.role else None,
            "kind": wanted.kind,
            "cited": "1" if wanted.cited else None,
            "all": "1" if self.everywhere else None,
        }
        return [(name, str(value)) for name, value in given.items() if value is not None]

    @property
    def link(self) -> str:
        """The address of it, seen from the page itself."""
        return f"?{urlencode(self.query)}"

    def further(self, position: int, way: Direction) -> Selection:
        """The same with more neighbours of a node."""
        opened = (*(self.opened or ()), Opened(position, way))
        return replace(self, opened=opened, cursor=None)

    def folded(self, position: int, way: Direction) -> Selection:
        """The same without what was opened of a node on one side."""
        gone = Opened(position, way)
        return replace(self, opened=tuple(one for one in self.opened or () if one != gone))

    def looking_at(self, position: int | None) -> Selection:
        """The same with another node beside the picture."""
        return replace(self, at=position)

    def hidden_fields(self, *but: str) -> list[tuple[str, str]]:
        """What a form of the page sends along, but for its own fields."""
        return [(name, value) for name, value in self.query if name not in but]


def read_opened(text: str | None) -> tuple[tuple[Opened, ...] | None, int]:
    """What an address says was opened, and how many places of it are left out.

    What is none of ours is left out too: nothing is lost but a click.
    """
    if text is None:
        return None, 0
    found = [Opened(int(position, 36), _WAYS[letter]) for position, letter in _OPENED.findall(text)]
    kept = tuple(found[:MOST_OPENED])
    return kept, len(found) - len(kept)


def _base_36(number: int) -> str:
    digits = ""
    while number >= 36:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return _DIGITS[number] + digits
