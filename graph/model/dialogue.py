"""Dialogues: turns with the documents that they use, and what VISTA finds of each turn.

Source: VISTA 3 (the stages and the categories), A.1.4 (the optional check of a turn).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from veritrail_graph.graph.model.noun import (
    Count,
    Many,
    NodeId,
    Noun,
    Number,
    OneOf,
    PublicId,
    Text,
    Time,
)
from veritrail_graph.graph.model.settings_text import SettingsText
from veritrail_graph.graph.model.trail import NO_USAGE, Status, Usage

FORMAT = "veritrail.dialogue/1"
"""The format that a dialogue file names."""

MAX_ID = 1_000
"""The longest id of a turn or a document, in characters: a node_id has room for a prefix."""

TURN, DOCUMENT, KNOWLEDGE = "turn/", "document/", "knowledge/"
"""What the node_ids of a dialogue begin with."""

PartId = Annotated[str, Field(min_length=1, max_length=MAX_ID)]
"""The id of a turn or of a document, unique in its dialogue."""


class Speaker(StrEnum):
    """Who speaks in a turn; only the assistant's turns are verified."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"

    @property
    def kind(self) -> str:
        """The `kind` of the nodes of its turns, such as `assistant turn`."""
        return f"{self.value} turn"


class ClaimCategory(StrEnum):
    """Whether a claim of a turn is verified and, if it is not, why.

    Source: VISTA 3, steps 2 and 3.
    """

    VERIFIED = "VERIFIED"
    OUT_OF_SCOPE = "OUT_OF_SCOPE"
    CONTRADICTED = "CONTRADICTED"
    LACKING_EVIDENCE = "LACKING_EVIDENCE"
    ABSTENTION = "ABSTENTION"


class DialogueLabel(StrEnum):
    """What step 2 says of a claim, and what follows for its turn. Source: VISTA 3, 6.1."""

    VERIFIED = "VERIFIED"
    UNVERIFIABLE = "UNVERIFIABLE"


class AnswerLabel(StrEnum):
    """The label that a judge gives a turn as a whole. Source: VISTA A.2."""

    FAITHFUL = "FAITHFUL"
    HALLUCINATED = "HALLUCINATED"

    @property
    def dialogue_label(self) -> DialogueLabel:
        """The label of the turn that it is."""
        is_faithful = self is AnswerLabel.FAITHFUL
        return DialogueLabel.VERIFIED if is_faithful else DialogueLabel.UNVERIFIABLE


class DialogueDocument(Noun):
    """A reference document of a dialogue: source text."""

    document_id: PartId = Field(description="Its id, unique in the dialogue.")
    text: Text = Field(description="Its text.")
    metadata: Mapping[str, Any] = Field(default={}, description="What else is known of it.")


class Turn(Noun):
    """What one speaker says at once."""

    turn_id: PartId = Field(description="Its id, unique in the dialogue.")
    role: OneOf[Speaker] = Field(description="Who speaks.")
    text: Text = Field(description="What is said.")
    documents: Many[PartId] = Field(
        default=(), description="The ids of the documents that it was written from."
    )
    metadata: Mapping[str, Any] = Field(default={}, description="What else is known of it.")

    @property
    def node_id(self) -> str:
        """The node that it is in a process."""
        return f"{TURN}{self.turn_id}"


class Dialogue(Noun):
    """A dialogue file, `veritrail.dialogue/1`, without the name of its format."""

    dialogue_id: PublicId | None = Field(
        default=None, description="Its id, which becomes the process_id; null: by its content."
    )
    name: Text | None = Field(default=None, description="Its name.")
    initial_knowledge: Many[Text] = Field(
        default=(), description="What the assistant counts as knowing before the first turn."
    )
    documents: Many[DialogueDocument] = Field(default=(), description="The reference documents.")
    turns: Many[Turn] = Field(description="The turns, in their order.")


class TurnCheck(Noun):
    """Whether a turn as a whole contradicts an earlier one.

    Source: VISTA A.1.4.
    """

    contradiction: bool = Field(description="Whether it does.")
    quotes: Many[Text] = Field(
        default=(), description="Of a contradiction: what the turn says, what an earlier one said."
    )
    turn_id: PartId | None = Field(
        default=None,
        description="The earlier turn that holds the second quote word by word; null: none does.",
    )
    reason: Text | None = Field(default=None, description="The model's reason.")
    model: Text | None = Field(default=None, description="The model that was asked.")


class TurnClaim(Noun):
    """A claim of a turn, with its category.

    Source: VISTA 3, steps 1 to 3.
    """

    claim_id: PublicId = Field(description="Its id, unique in the dialogue.")
    claim: Text = Field(description="The claim.")
    category: OneOf[ClaimCategory] | None = Field(
        default=None,
        description="Its category; null unless it succeeded, and for an unverifiable claim where "
        "categories were not asked for.",
    )
    reason: Text | None = Field(default=None, description="The reason for the category.")
    compared_with: Many[PublicId] = Field(
        default=(), description="The remembered claims that were shown with it, oldest first."
    )
    contradicts: Many[PublicId] = Field(
        default=(), description="Those of them that it contradicts."
    )
    status: OneOf[Status] = Field(
        default=Status.SUCCEEDED,
        description="succeeded, failed, over_budget or cancelled; undecided: the judge cannot "
        "tell whether it is verified, `reason` says why.",
    )
    label: OneOf[DialogueLabel] | None = Field(
        default=None, description="What verification said; null where it did not succeed."
    )
    contradicts_knowledge: Many[NodeId] = Field(
        default=(),
        description="The nodes that it contradicts besides: of initial knowledge, or earlier turns "
        "that were shown with it.",
    )
    error: Text | None = Field(default=None, description="Why it did not succeed.")

    @property
    def is_remembered(self) -> bool:
        """Return whether it joins the background of later turns. Source: VISTA 3, steps 4 and 5."""
        return self.category in (ClaimCategory.VERIFIED, ClaimCategory.OUT_OF_SCOPE)


class TurnVerification(Noun):
    """An assistant's turn with its claims.

    Source: VISTA 3.
    """

    turn_id: PartId = Field(description="The turn.")
    status: OneOf[Status] = Field(
        description="succeeded; failed, over_budget or cancelled where a claim, the extraction or "
        "the check of the turn is; undecided where a claim is and nothing else decides the label."
    )
    label: OneOf[DialogueLabel] | None = Field(
        default=None,
        description="UNVERIFIABLE where any claim is not verified; null: it did not succeed, is "
        "undecided, or makes no claim.",
    )
    claims: Many[TurnClaim] = Field(default=(), description="Its claims, in their order.")
    turn_check: TurnCheck | None = Field(
        default=None,
        description="Whether the turn as a whole contradicts an earlier one, if asked.",
    )
    score: Number | None = Field(
        default=None,
        description="Share of verified claims among the verifiable ones; null: there is none, a "
        "claim is undecided, or the turn did not succeed.",
    )
    error: Text | None = Field(default=None, description="Why it did not succeed.")
    history_left_out: Count = Field(
        default=0, description="Earlier turns that did not fit into a prompt."
    )
    background_left_out: Count = Field(
        default=0, description="Remembered facts that did not fit into a prompt."
    )
    background_lacks: Count = Field(
        default=0,
        description="Earlier assistant's turns of which nothing, or not all, could be remembered: "
        "they were not verified, or did not succeed.",
    )
    usage: Usage = Field(default=NO_USAGE, description="What its calls cost.")

    @property
    def is_unverifiable(self) -> bool | None:
        """Return whether benchmarks count it as unverifiable; None: it failed, or is undecided.

        A turn without claims is none: it holds no claim with another label than VERIFIED.

        Source: VISTA 6.1.
        """
        if self.status is not Status.SUCCEEDED:
            return None
        return self.label is DialogueLabel.UNVERIFIABLE

    @classmethod
    def of_claims(
        cls, turn_id: str, claims: Sequence[TurnClaim], **values: Any
    ) -> TurnVerification:
        """A turn whose claims have ended, with status, label and score as they follow from these.

        Args:
            turn_id: The turn.
            claims: Its claims.
            **values: The other fields; a `status` other than succeeded takes precedence.
        """
        left = next((one for one in claims if not one.status.is_result), None)
        status = values.pop("status", Status.SUCCEEDED)
        if status is Status.SUCCEEDED and left is not None:
            status = left.status
            values["error"] = left.error
        label = turn_label(claims) if status is Status.SUCCEEDED else None
        if status is Status.SUCCEEDED and label is None and claims:
            status = Status.UNDECIDED
        return cls(
            turn_id=turn_id,
            status=status,
            claims=tuple(claims),
            label=label,
            score=vista_score(claims) if status is Status.SUCCEEDED else None,
            **values,
        )

    @property
    def is_open(self) -> bool:
        """Return whether a claim is undecided, so that its score cannot be told."""
        return self.status.is_result and any(map(_is_undecided, self.claims))


class DialogueRun(Noun):
    """The assistant's turns of a dialogue that were verified in one run.

    Source: VISTA 3.
    """

    run_id: PublicId = Field(description="The run.")
    dialogue_id: PublicId = Field(description="The dialogue.")
    turns: Many[TurnVerification] = Field(description="The assistant's turns, in their order.")
    score: Number | None = Field(
        default=None,
        description="Share of verified claims among the verifiable ones of all turns that "
        "succeeded; null: there is none, or a claim of these turns is undecided.",
    )
    usage: Usage = Field(default=NO_USAGE, description="What the calls of this run cost.")
    engine: Text = Field(description="The engine.")
    model: Text | None = Field(default=None, description="The model; null: the engine has none.")
    indicative: bool = Field(default=False, description="Whether no model was asked.")
    course: Many[Number | None] = Field(
        default=(), description="The score over all turns up to each one, in their order."
    )
    created_at: Time | None = Field(default=None, description="When the run began.")
    settings: SettingsText | None = Field(
        default=None, description="What decides its outcome besides the dialogue."
    )

    @classmethod
    def of_turns(cls, turns: Sequence[TurnVerification], **values: Any) -> DialogueRun:
        """A run with its score and the course of it."""
        course = score_course(turns)
        score = course[-1] if course else None
        return cls(turns=tuple(turns), course=course, score=score, **values)

    @property
    def claims(self) -> tuple[TurnClaim, ...]:
        """The claims of all turns, in their order."""
        return tuple(claim for turn in self.turns for claim in turn.claims)


class DialogueRunSummary(Noun):
    """A run in which turns of a dialogue were verified, as lists show it."""

    run_id: PublicId = Field(description="The run.")
    created_at: Time = Field(description="When it began.")
    engine: Text = Field(description="The engine.")
    model: Text | None = Field(default=None, description="The model; null: the engine has none.")
    indicative: bool = Field(default=False, description="Whether no model was asked.")
    settings: SettingsText = Field(description="What decides its outcome besides the dialogue.")
    turns: Count = Field(description="How many turns it stored.")
    counting: Count = Field(description="Of how many turns its results count.")


VERIFIABLE = frozenset(
    {ClaimCategory.VERIFIED, ClaimCategory.CONTRADICTED, ClaimCategory.LACKING_EVIDENCE}
)
"""Categories of claims that a source could confirm: neither opinions nor abstentions."""


def is_dialogue(terminals: Iterable[str]) -> bool:
    """Return whether a process with these final outputs looks like a dialogue: one is a turn."""
    return any(node_id.startswith(TURN) for node_id in terminals)


def turn_label(claims: Iterable[TurnClaim]) -> DialogueLabel | None:
    """The label of a turn; None: it makes no claim, or an undecided claim leaves it open.

    One claim that is not verified decides it, whatever the undecided ones are; without such a
    claim it would be VERIFIED only if these were.

    Source: VISTA 6.1 (any claim that is not verified makes a turn unverifiable).
    """
    every = list(claims)
    decided = {claim.label for claim in every if not _is_undecided(claim)}
    if decided - {DialogueLabel.VERIFIED}:
        return DialogueLabel.UNVERIFIABLE
    return DialogueLabel.VERIFIED if every and not any(map(_is_undecided, every)) else None


def vista_score(claims: Iterable[TurnClaim]) -> float | None:
    """Share of verified claims among the verifiable ones; None: there is none, or one is open.

    An undecided claim may be verified, and may be no verifiable one: no share is known.

    Source: ours; VISTA names a score and gives no formula (docs/adr/0037-dialogues.md).
    """
    every = list(claims)
    if any(map(_is_undecided, every)):
        return None
    verified, verifiable = _counts(every)
    return verified / verifiable if verifiable else None


def score_course(turns: Iterable[TurnVerification]) -> tuple[float | None, ...]:
    """The score over all turns up to each one; turns that did not succeed add nothing.

    From a turn with an undecided claim on there is none: without that claim it would be too high.
    """
    verified = verifiable = 0
    is_open = False
    course: list[float | None] = []
    for turn in turns:
        is_open |= turn.is_open
        if turn.status is Status.SUCCEEDED:
            more = _counts(turn.claims)
            verified, verifiable = verified + more[0], verifiable + more[1]
        course.append(verified / verifiable if verifiable and not is_open else None)
    return tuple(course)


def _is_undecided(claim: TurnClaim) -> bool:
    return claim.status is Status.UNDECIDED


def _counts(claims: Iterable[TurnClaim]) -> tuple[int, int]:
    """Verified claims and verifiable ones; one without a category counts as not verified."""
    categories = [claim.category for claim in claims]
    verifiable = [one for one in categories if one is None or one in VERIFIABLE]
    return verifiable.count(ClaimCategory.VERIFIED), len(verifiable)
