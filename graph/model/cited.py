"""Sentences that were selected, and what they say together.

Source: VeriTrail 3.1.2, 3.2 (traceability).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from pydantic import Field

from veritrail_graph.graph.model.noun import (
    Count,
    Many,
    NodeId,
    Noun,
    OneOf,
    Text,
    is_empty,
    is_none,
)
from veritrail_graph.graph.model.part import PartNumber, Says, Side, said_together


class EvidenceRole(StrEnum):
    """How a selected sentence was named: as evidence, or as context that evidence needs."""

    EVIDENCE = "evidence"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a node, as the splitter gives it.

    Attributes:
        node_id: The node.
        index: Its number in the node, counted from 0.
        start: Offset of its first character in the node's text, in code points.
        end: Offset just behind its last character.
        text: `node.text[start:end]`.
    """

    node_id: str
    index: int
    start: int
    end: int
    text: str


class CitedSentence(Noun):
    """A sentence that was selected, and as what."""

    node_id: NodeId = Field(description="The node.")
    sentence: Count = Field(description="The number of the sentence in its node, from 0.")
    start: Count = Field(description="Offset of its first character, in code points.")
    end: Count = Field(description="Offset just behind its last character.")
    text: Text = Field(description="The text of the node from `start` to `end`.")
    role: OneOf[EvidenceRole] = Field(
        default=EvidenceRole.EVIDENCE, description="Evidence, or context that the evidence needs."
    )
    says: OneOf[Says] | None = Field(
        default=None,
        description="Whether it speaks `for` the claim, `against` it or `both`; left out: the "
        "judge did not say.",
        exclude_if=is_none,
    )
    part: PartNumber | None = Field(
        default=None,
        description="The part of the claim that it is about, counted from 1 as in the sub-claims; "
        "of several the first that it speaks against, else the first.",
        exclude_if=is_none,
    )
    sides: Many[Side] = Field(
        default=(),
        description="What it says about each part, where it is about several.",
        exclude_if=is_empty,
    )

    @classmethod
    def of(
        cls,
        sentence: Sentence,
        role: EvidenceRole = EvidenceRole.EVIDENCE,
        sides: tuple[Side, ...] = (),
    ) -> CitedSentence:
        """A sentence of the splitter, as it was selected, and what it says about which parts."""
        denied = next((one for one in sides if one.says is not Says.FOR), None)
        first = denied or next(iter(sides), None)
        return cls.model_construct(
            node_id=sentence.node_id,
            sentence=sentence.index,
            start=sentence.start,
            end=sentence.end,
            text=sentence.text,
            role=role,
            says=said_together(sides),
            part=None if first is None else first.part,
            sides=sides if len(sides) > 1 else (),
        )

    @property
    def all_sides(self) -> tuple[Side, ...]:
        """Return what it says about each part that it is about."""
        if self.sides or self.says is None or self.part is None:
            return self.sides
        return (Side(part=self.part, says=self.says),)

    def as_sentence(self) -> Sentence:
        """The sentence itself, as the splitter gives it."""
        return Sentence(self.node_id, self.sentence, self.start, self.end, self.text)


class Evidence(Noun):
    """What one evidence selection prompt found: sentences and their summary.

    Source: VeriTrail 3.1.2.
    """

    text: Text = Field(description="What the selected sentences say together.")
    missing: Text | None = Field(default=None, description="What they do not say.")
    node_ids: Many[NodeId] = Field(default=(), description="Their nodes, each once, in order.")
    sentences: Many[CitedSentence] = Field(
        default=(), description="The selected sentences, in the order of their prompt."
    )

    derived: ClassVar[Mapping[str, str]] = {"sentences": "node_ids"}

    def model_post_init(self, context: Any, /) -> None:
        """Derive the nodes, where they were not given."""
        if self.sentences:
            self._fill("node_ids", tuple(dict.fromkeys(one.node_id for one in self.sentences)))
