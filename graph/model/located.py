"""The place where an error came in: by the verdicts of a walk, or by a value of the claim.

Source: VeriTrail 3.2 (error localization); by a value is ours
(docs/adr/0050-value-leads-to-the-culprit.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from veritrail_graph.graph.model.node_ref import NodeRef
from veritrail_graph.graph.model.noun import Count, Many, NodeId, Noun, Place, Text


class LocatedBy(StrEnum):
    """How the place of an error was found."""

    VERDICTS = "verdicts"
    """By the interim verdicts: the rule of the paper."""
    VALUE = "value"
    """By a value of the claim: a figure, a date, a time, a name or a quotation."""
    SIDES = "sides"
    """By what sentences say for and against a part of the claim, where verdicts tell no place."""


def stages_of(nodes: Iterable[NodeRef]) -> tuple[int, ...]:
    """The stages of nodes, each once, ascending; nodes known by their ids alone have none."""
    return tuple(sorted({node.stage for node in nodes if node.stage is not None}))


@dataclass(frozen=True, slots=True)
class ErrorLocation:
    """The nodes that introduced unsupported content. All empty when no stage can be identified.

    Attributes:
        nodes: Nodes of which one introduced it; that with most of the claim comes first.
        propagated: Later nodes that only carried it on, the verified node last.

    Source: VeriTrail 3.2 (error localization).
    """

    nodes: tuple[NodeRef, ...] = ()
    propagated: tuple[NodeRef, ...] = ()

    @property
    def stages(self) -> tuple[int, ...]:
        """The error stages, each once, ascending."""
        return stages_of(self.nodes)


class MarkedSentence(Noun):
    """A sentence of a node, with the words that matter marked."""

    node_id: NodeId = Field(description="The node.")
    stage: Count | None = Field(default=None, description="Its stage; null: not known.")
    sentence: Count = Field(description="The number of the sentence in its node, from 0.")
    start: Count = Field(description="Offset of its first character, in code points.")
    end: Count = Field(description="Offset just behind its last character.")
    text: Text = Field(description="The text of the node from `start` to `end`.")
    marked: Many[Place] = Field(
        default=(), description="The words that matter: [start, end] of each, counted in `text`."
    )

    @model_validator(mode="after")
    def _checked(self) -> Self:
        if any(not start <= end <= len(self.text) for start, end in self.marked):
            raise PydanticCustomError("wrong_place", "marked words stand outside of the sentence")
        return self


class ValueDifference(Noun):
    """The value that the source has, and the one that was written in its place."""

    source: Text = Field(description="As the source writes it.")
    wrote: Text = Field(description="As the culprit writes it.")


class ValuePlace(Noun):
    """Where a value of a claim that its sources do not have came in.

    That is the node nearest to the sources that has the value of the claim in a sentence about the
    same matter, while what it was made from has another one there. Several that are equally near
    are candidates: one of them is the culprit, and nothing says which.
    """

    culprit: NodeId | None = Field(
        default=None, description="The node that wrote the value; null: one of `candidates`."
    )
    candidates: Many[NodeId] = Field(
        default=(), description="Of several nodes that may have, all; else empty."
    )
    source: MarkedSentence = Field(
        description="A sentence with the other value, as near to the sources as there is one."
    )
    wrote: MarkedSentence = Field(
        description="The sentence with the claim's value, of the culprit or of the first candidate."
    )
    difference: ValueDifference = Field(description="The two values.")
    carried_on: Many[NodeId] = Field(
        default=(), description="Later nodes that have the claim's value, too; the answer is last."
    )

    @property
    def node_ids(self) -> tuple[str, ...]:
        """The culprit, or else the candidates."""
        return self.candidates if self.culprit is None else (self.culprit,)

    @property
    def named(self) -> tuple[str, ...]:
        """All nodes that it names."""
        quoted = (self.source.node_id, self.wrote.node_id)
        return tuple(dict.fromkeys((*self.node_ids, *quoted, *self.carried_on)))

    def with_stages(self, stages: Mapping[str, int | None]) -> Self:
        """Return a copy with the stages of the nodes of its sentences, as far as they are known."""
        said = {
            side: sentence.replace(stage=stages[sentence.node_id])
            for side, sentence in (("source", self.source), ("wrote", self.wrote))
            if sentence.node_id in stages
        }
        return self.replace(**said)

    @model_validator(mode="after")
    def _checked(self) -> Self:
        if (self.culprit is None) is (len(self.candidates) < 2):
            raise PydanticCustomError(
                "wrong_place", "there is one culprit, or else two candidates or more"
            )
        return self


def stage_shares(together: Mapping[tuple[int, ...], int]) -> dict[int, float]:
    """Count claims by the stage where an error came in: one with k possible stages as 1/k at each.

    Args:
        together: Claims by the stages of which one introduced an error into them.
    """
    found: dict[int, float] = {}
    for stages, claims in together.items():
        for stage in stages:
            found[stage] = found.get(stage, 0.0) + claims / len(stages)
    return found
