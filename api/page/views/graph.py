"""Read and list nodes for the graph page: those opened, and what each is to the claim.

Source: VeriTrail 3.2 (provenance and error localization).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from urllib.parse import urlencode

from veritrail_graph.graph.model import Claim, EdgeFacts, Inference, Verification
from veritrail_graph.graph.model.lineage import Direction
from veritrail_graph.graph.model.listed import ANY_NODE, JudgedClaim, ListedNode, NodeQuery

MOST_DRAWN = 300
"""Nodes of a picture; further nodes are in lists."""

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
        """As part of an address."""
        return f"{_base_36(self.position)}{_LETTERS[self.way]}"


@dataclass(frozen=True, slots=True)
class Selection:
    """The selection on the graph page, as its address holds it.

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
        """Return whether there is something to begin with; else stages are drawn."""
        return any((self.claim, self.verification, self.node))

    @property
    def can_open(self) -> bool:
        """Return whether the address has room for one more."""
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
        """Return the same with more neighbours of a node."""
        opened = (*(self.opened or ()), Opened(position, way))
        return replace(self, opened=opened, cursor=None)

    def folded(self, position: int, way: Direction) -> Selection:
        """Return the same without what was opened of a node on one side."""
        gone = Opened(position, way)
        return replace(self, opened=tuple(one for one in self.opened or () if one != gone))

    def looking_at(self, position: int | None) -> Selection:
        """Return the same with another node beside the picture."""
        return replace(self, at=position)

    def hidden_fields(self, *but: str) -> list[tuple[str, str]]:
        """Return what a form of the page sends along, but for its own fields."""
        return [(name, value) for name, value in self.query if name not in but]


def read_opened(text: str | None) -> tuple[tuple[Opened, ...] | None, int]:
    """Return what an address says was opened, and how many places of it are left out.

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


class NodePart(StrEnum):
    """The role of a node for the selected claim; the first that applies is shown."""

    ERROR = "error"
    VERIFIED = "verified"
    EVIDENCE = "evidence"
    CARRIED = "carried"
    PASSED = "passed"


INFERENCE_WORDS: Mapping[Inference, str] = {
    Inference.EXACT: "by the same text",
    Inference.NORMALISED: "by the same text in another form",
    Inference.OVERLAP: "by words in common",
    Inference.ORDER: "by the order of the input",
}
"""How an edge was found that the input does not name."""

PART_WORDS: Mapping[NodePart, tuple[str, str]] = {
    NodePart.ERROR: ("introduced here", "not-supported"),
    NodePart.VERIFIED: ("states the claim", "pin"),
    NodePart.EVIDENCE: ("cited", "source"),
    NodePart.CARRIED: ("carried it on", "down"),
    NodePart.PASSED: ("on the way", "next"),
}
"""Of each part its words and its icon."""


@dataclass(frozen=True, slots=True)
class Focus:
    """The start of a picture: its first node, its pinned nodes and its evidence trail.

    Attributes:
        begin: The node that it begins with; the verified one where there is a claim.
        pinned: Nodes that are always shown, in the order of their weight.
        claim: The claim, if there is one.
        links: Edges of the evidence trail, as (source, target).
        trail: Nodes of the evidence trail.
        cited: How many sentences of each node the verification cites.
        judged: The claim as lists show it, where it has no verification.
    """

    begin: str
    pinned: tuple[str, ...]
    claim: Claim | None = None
    links: frozenset[tuple[str, str]] = frozenset()
    trail: frozenset[str] = frozenset()
    cited: Mapping[str, int] = field(default_factory=dict)
    judged: JudgedClaim | None = None


@dataclass(frozen=True, slots=True)
class Explored:
    """The nodes and edges that were read for a picture.

    Attributes:
        focus: What it begins with.
        verification: The verification whose trail is drawn, if any; without its iterations.
        nodes: The nodes, in the order they came in.
        arrivals: With which opening each came in; 0: from the start.
        edges: Every edge between two of them.
        opened: What was opened.
        is_full: Whether no more nodes are drawn.
        inferred: What is known of those edges that the input does not name.
    """

    focus: Focus
    verification: Verification | None
    nodes: tuple[ListedNode, ...]
    arrivals: Mapping[str, int]
    edges: tuple[tuple[str, str], ...]
    opened: tuple[Opened, ...]
    is_full: bool
    inferred: Mapping[tuple[str, str], EdgeFacts] = field(default_factory=dict)


def part_of(node_id: str, explored: Explored) -> NodePart | None:
    """Return what a node is to the claim that is looked at."""
    focus, verification = explored.focus, explored.verification
    if verification is not None:
        if any(ref.node_id == node_id for ref in verification.error_nodes):
            return NodePart.ERROR
        offered = verification.offered_place
        if offered is not None and node_id in offered.node_ids:
            return NodePart.ERROR
        if node_id == focus.begin:
            return NodePart.VERIFIED
        if node_id in focus.cited:
            return NodePart.EVIDENCE
        if any(ref.node_id == node_id for ref in verification.propagated_nodes):
            return NodePart.CARRIED
    elif focus.claim is not None and node_id == focus.begin:
        return NodePart.VERIFIED
    return NodePart.PASSED if node_id in focus.trail else None


def part_words(part: NodePart, node_id: str, explored: Explored) -> str:
    """Return what a node is to the claim, in words."""
    if part is NodePart.EVIDENCE:
        count = explored.focus.cited[node_id]
        return f"{count:,} sentence{'s' * (count != 1)} cited"
    found = explored.verification
    if part is NodePart.ERROR and found is not None and found.offered_place is not None:
        return "offered by value"
    if part is NodePart.ERROR and found is not None and len(found.error_nodes) > 1:
        return "perhaps introduced"
    return PART_WORDS[part][0]


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node in the list.

    Attributes:
        node: The node.
        part: What it is to the claim that is looked at, if anything.
        part_words: The same in words.
        hidden_upstream: How many of its source nodes the picture does not show; None: there is
            no picture.
        hidden_downstream: How many of the nodes that it feeds are not shown.
        more_upstream: Where more of its source nodes are shown.
        more_downstream: Where more of what it feeds is shown.
        look: Where its text is shown, beside the picture.
    """

    node: ListedNode
    part: NodePart | None = None
    part_words: str = ""
    hidden_upstream: int | None = None
    hidden_downstream: int | None = None
    more_upstream: str | None = None
    more_downstream: str | None = None
    look: str | None = None


@dataclass(frozen=True, slots=True)
class NodeList:
    """A page of a list of nodes.

    Attributes:
        rows: The nodes.
        total: How many there are on all pages; None: they are not counted.
        following: The cursor of the next page, if there is one.
    """

    rows: tuple[NodeRow, ...]
    total: int | None
    following: str | None


def listed_rows(
    nodes: Sequence[ListedNode], selection: Selection, following: str | None
) -> NodeList:
    """Nodes of the whole process."""
    total = len(nodes) if following is None and selection.cursor is None else None
    return NodeList(tuple(NodeRow(node) for node in nodes), total, following)


def listed_among(
    nodes: Sequence[ListedNode],
    explored: Explored,
    selection: Selection,
    after: tuple[int, int],
    limit: int,
    cursor: Callable[[tuple[int, int]], str],
) -> NodeList:
    """Nodes of a picture, by stage and place in the input, from a place on."""
    ordered = sorted(nodes, key=lambda node: node.place)
    left = [node for node in ordered if node.place > after]
    page = left[:limit]
    up = Counter(target for _, target in explored.edges)
    down = Counter(source for source, _ in explored.edges)
    rows = tuple(
        _row(node, explored, selection, up[node.node_id], down[node.node_id]) for node in page
    )
    following = cursor(page[-1].place) if len(left) > limit else None
    return NodeList(rows, len(ordered), following)


def _row(node: ListedNode, explored: Explored, selection: Selection, up: int, down: int) -> NodeRow:
    part = part_of(node.node_id, explored)
    hidden = (node.upstream - up, node.downstream - down)
    can_open = selection.can_open and not explored.is_full
    return NodeRow(
        node,
        part,
        part_words(part, node.node_id, explored) if part else "",
        hidden[0],
        hidden[1],
        _more(node, Direction.UPSTREAM, selection) if can_open and hidden[0] else None,
        _more(node, Direction.DOWNSTREAM, selection) if can_open and hidden[1] else None,
        selection.looking_at(node.position).link,
    )


def _more(node: ListedNode, way: Direction, selection: Selection) -> str:
    return selection.further(node.position, way).link
