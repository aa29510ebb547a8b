"""The difference of two trails, as it is computed and answered.

Source: VeriTrail 3.2 (traceability); the comparison is ours.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue, WithJsonSchema

from veritrail_graph.graph.model.cited import CitedSentence
from veritrail_graph.graph.model.noun import Answer
from veritrail_graph.graph.model.process import Verdict
from veritrail_graph.graph.model.trail import Verification


class ChangedValue(Answer):
    """A value that differs."""

    a: JsonValue
    b: JsonValue


class RoundSide(Answer):
    """What only one side did in the round at which two trails part."""

    verdict: Annotated[Verdict | None, WithJsonSchema({"type": "string", "title": "Verdict"})]
    reasoning: str
    checked_only: list[str]
    selected_only: list[CitedSentence] = Field(description="Sentences, as in a trail.")


class Parting(Answer):
    """The first iteration that differs; a side that had ended before is null."""

    iteration: int
    parts: list[str]
    a: RoundSide | None
    b: RoundSide | None


class Difference(Answer):
    """Where two trails part: what `diff --json` prints."""

    model_config = ConfigDict(title="DifferenceFound")

    a: str
    b: str
    same: bool
    same_claim: bool
    claim: dict[str, ChangedValue] = Field({})
    settings: dict[str, ChangedValue] = Field({})
    outcome: dict[str, ChangedValue] = Field({})
    parting: Parting | None = None
    sides: list[Verification] = Field([], description="Both verifications.", exclude=True)
