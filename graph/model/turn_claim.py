"""A claim of a dialogue's turn as people look it up, with the finding where it is wrong."""

from __future__ import annotations

from pydantic import Field

from veritrail_graph.graph.model.dialogue import TurnClaim
from veritrail_graph.graph.model.finding import CheckedClaim, Finding, FindingNode
from veritrail_graph.graph.model.noun import Answer, Text


class TurnClaimFound(Answer):
    """A claim of a turn, as it counts."""

    dialogue_id: Text = Field(description="The dialogue.")
    run_id: Text = Field(description="The run that verified its turn.")
    engine: Text = Field(description="The engine that judged.")
    model: Text | None = Field(default=None, description="The model that judged.")
    indicative: bool = Field(description="Whether no language model judged.")
    turn_id: Text = Field(description="The turn.")
    turn: FindingNode = Field(description="Its node.")
    claim: TurnClaim = Field(description="The claim with its category and its reason.")
    result: CheckedClaim = Field(description="What counts for it in a check.")
    finding: Finding | None = Field(default=None, description="What is wrong; null: nothing.")
