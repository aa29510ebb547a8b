"""What was read of a part of a process, and what each node of it is to the claim.

Source: VeriTrail 3.2 (provenance and error localization).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from veritrail_graph.api.web.views.selection import Opened
from veritrail_graph.graph.model import Claim, Verification
from veritrail_graph.graph.store.listed_nodes import ListedNode


class Part(StrEnum):
    """What a node is to the claim that is looked at; the first that holds is shown."""

    ERROR = "error"
    VERIFIED = "verified"
    EVIDENCE = "evidence"
    CARRIED = "carried"
    PASSED = "passed"


PART_WORDS: Mapping[Part, tuple[str, str]] = {
    Part.ERROR: ("error came in here", "not-supported"),
    Part.VERIFIED: ("states the claim", "pin"),
    Part.EVIDENCE: ("cited", "source"),
    Part.CARRIED: ("carried it on", "down"),
    Part.PASSED: ("on the way", "next"),
}
"""Of each part its words and its icon."""


@dataclass(frozen=True, slots=True)
class Focus:
    """What a picture begins with.

    Attributes:
        begin: The node that it begins with; the verified one where there is a claim.
        pinned: Nodes that are always shown, in the order of their weight.
        claim: The claim, if there is one.
        links: Edges of the evidence trail, as (source, target).
        trail: Nodes of the evidence trail.
        cited: How many sentences of each node the verification cites.
    """

    begin: str
    pinned: tuple[str, ...]
    claim: Claim | None = None
    links: frozenset[tuple[str, str]] = frozenset()
    trail: frozenset[str] = frozenset()
    cited: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Explored:
    """What was read for a picture.

    Attributes:
        focus: What it begins with.
        verification: The verification whose trail is drawn, if any; without its iterations.
        nodes: The nodes, in the order they came in.
        arrivals: With which opening each came in; 0: from the start.
        edges: Every edge between two of them.
        opened: What was opened.
        is_full: Whether no more nodes are drawn.
    """

    focus: Focus
    verification: Verification | None
    nodes: tuple[ListedNode, ...]
    arrivals: Mapping[str, int]
    edges: tuple[tuple[str, str], ...]
    opened: tuple[Opened, ...]
    is_full: bool


def part_of(node_id: str, explored: Explored) -> Part | None:
    """What a node is to the claim that is looked at."""
    focus, verification = explored.focus, explored.verification
    if verification is not None:
        if any(ref.node_id == node_id for ref in verification.error.nodes):
            return Part.ERROR
        if node_id == focus.begin:
            return Part.VERIFIED
        if node_id in focus.cited:
            return Part.EVIDENCE
        if any(ref.node_id == node_id for ref in verification.error.propagated):
            return Part.CARRIED
    elif focus.claim is not None and node_id == focus.begin:
        return Part.VERIFIED
    return Part.PASSED if node_id in focus.trail else None


def part_words(part: Part, node_id: str, explored: Explored) -> str:
    """What a node is to the claim, in words."""
    if part is Part.EVIDENCE:
        count = explored.focus.cited[node_id]
        return f"{count:,} sentence{'s' * (count != 1)} cited"
    return PART_WORDS[part][0]
