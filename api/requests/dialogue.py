"""The one request to verify the turns of a dialogue, for every door and for the row of a job."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from veritrail_graph.api.requests.job import (
    Id,
    JobBudget,
    JobCache,
    JobCalls,
    JobEffort,
    JobPrice,
    JobRequest,
    JobStructured,
    Name,
)
from veritrail_graph.graph.model.dialogue import PartId

MAX_TURNS = 10_000
"""Turns that one request names, and the most that a prompt may be allowed to show."""

Shown = Annotated[int, Field(ge=0, le=MAX_TURNS)]


class DialogueParameters(JobRequest):
    """The fields of a request to verify turns, without the dialogue itself."""

    turn_ids: Annotated[tuple[PartId, ...], Field(strict=False)] | None = Field(
        None,
        min_length=1,
        max_length=MAX_TURNS,
        description="The turns; default: all turns of the assistant. What is stored of the "
        "others is their background.",
    )
    turn_check: bool = Field(
        False, description="Also ask whether each turn as a whole contradicts an earlier one."
    )
    turn_check_model: Name | None = Field(
        None, description="Another model for `turn_check`, which it implies."
    )
    background: bool = Field(
        True, description="Whether claims are compared with what the assistant said before."
    )
    history: bool = Field(
        True, description="Whether turns are taken apart with the turns before them."
    )
    zero_shot: bool = Field(False, description="Leave the examples out of the prompts.")
    categories: bool = Field(True, description="Whether it is asked why claims are not verified.")
    facts: Shown | None = Field(
        None, description="Remembered facts that a prompt shows at most; default: 200."
    )
    history_turns: Shown | None = Field(
        None, description="Earlier turns that a prompt shows at most; default: 200."
    )
    engine: Name | None = Field(None, description="lexical, openai, azure or recorded.")
    model: Name | None = Field(None, description="The model that is asked; selects openai.")
    claims_model: Name | None = Field(
        None, description="The model that takes turns apart into claims."
    )
    verdict_model: Name | None = Field(
        None, description="The model that verifies and categorises claims."
    )
    budget_usd: JobBudget = None
    max_calls: JobCalls = None
    price: JobPrice = None
    effort: JobEffort = None
    structured: JobStructured = False
    use_cache: JobCache = True

    @property
    def changes(self) -> dict[str, Any]:
        """Return what a run that goes on is changed in: everything but its turns."""
        return self.model_dump(mode="json", exclude={"dialogue_id", "turn_ids"})

    @property
    def checks_turns(self) -> bool:
        """Return whether each turn as a whole is checked for contradictions."""
        return self.turn_check or self.turn_check_model is not None


class _OfDialogue(JobRequest):
    """A request about a dialogue; it comes first among the fields."""

    dialogue_id: Id

    @property
    def process_id(self) -> str:
        """The process that the dialogue is."""
        return self.dialogue_id


class DialogueRequest(DialogueParameters, _OfDialogue):
    """Which turns of a dialogue are verified, and how; omitted fields are those of the command.

    Without `turn_ids` all turns of the assistant are verified. No field names a file, an address
    or a secret of the server.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"dialogue_id": "lindholm-dialogue"},
                {
                    "dialogue_id": "lindholm-dialogue",
                    "turn_ids": ["t4", "t24"],
                    "engine": "openai",
                    "model": "gpt-6-luna",
                    "turn_check": True,
                    "budget_usd": 0.5,
                },
            ]
        },
    )
