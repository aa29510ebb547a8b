"""The trails of a report, and where they come from: the store, or a process file.

Source: VeriTrail 3.2 (evidence trail).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from veritrail_graph.api.reports.material import CheckedClaim, Material
from veritrail_graph.graph.model import NodeRef, Review, Verification


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a dossier says of a node of a trail, beside its sentences.

    Attributes:
        ref: Its id, stage, place and role.
        kind: What sort of text it is, or None.
        step: The step that produced it, or None.
        model: The model that produced it, or None.
    """

    ref: NodeRef
    kind: str | None = None
    step: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around a cited sentence in its node, one sentence each way; None: nothing."""

    before: str | None = None
    after: str | None = None


Place = tuple[str, int, int]
"""A sentence by its place: node_id, start and end."""


@dataclass(frozen=True, slots=True)
class Trail:
    """A claim with all that explains its verdict.

    Attributes:
        checked: The claim.
        verification: The verification with its trail; None: the claim has none.
        reviews: All reviews of the claim, newest first.
        nodes: The nodes of the trail that are known, by node_id.
        around: What stands around cited sentences; empty unless it was asked for.
    """

    checked: CheckedClaim
    verification: Verification | None = None
    reviews: tuple[Review, ...] = ()
    nodes: Mapping[str, NodeFacts] = field(default_factory=dict)
    around: Mapping[Place, Surroundings] = field(default_factory=dict)


class Origin(Protocol):
    """Where a report is made from: the store, or a process file."""

    @property
    def material(self) -> Material:
        """The process and its claims."""
        ...

    async def texts(self, node_ids: Sequence[str]) -> dict[str, str]:
        """Texts of nodes by node_id; one that is not there is left out."""
        ...

    def trails(
        self, claims: Sequence[CheckedClaim], *, whole: bool = False
    ) -> AsyncIterator[Trail]:
        """The trails of these claims in their order, read a few at a time.

        Args:
            claims: Claims of the material.
            whole: Whether nodes, and what stands around their sentences, come along.
        """
        ...
