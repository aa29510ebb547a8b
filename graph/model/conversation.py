"""A dialogue as it is read by the page: turns with their numbers, and figures of all of them.

Source: VISTA 3; the score is ours (docs/adr/0037-dialogues.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.model.dialogue import (
    ClaimCategory,
    DialogueLabel,
    Turn,
    TurnVerification,
)
from veritrail_graph.graph.model.trail import NO_USAGE, Status, Usage


@dataclass(frozen=True, slots=True)
class DialogueSize:
    """The number of turns of a dialogue.

    Attributes:
        turns: All turns.
        assistant_turns: Those of the assistant.
        last_stage: Number of the last turn; 0: there is none.
    """

    turns: int
    assistant_turns: int
    last_stage: int


@dataclass(frozen=True, slots=True)
class SaidTurn:
    """A turn as it was said, with its place.

    Attributes:
        turn: The turn; its text may be cut.
        stage: Its number in the dialogue, which is its stage in the graph.
        position: Its place in the input.
        length: Characters of its whole text.
    """

    turn: Turn
    stage: int
    position: int
    length: int

    @property
    def place(self) -> tuple[int, int]:
        """Stage and position: where a page goes on."""
        return self.stage, self.position


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """The verification of a turn, with the turn's number.

    Attributes:
        stage: The number of the turn.
        found: What was found.
    """

    stage: int
    found: TurnVerification


@dataclass(frozen=True, slots=True)
class TurnCounts:
    """The number of claims of each kind in a turn.

    Attributes:
        stage: The number of the turn.
        status: How its verification ended.
        label: Its label; None: it has none.
        verified: Claims that are verified.
        contradicted: Claims that are contradicted.
        lacking_evidence: Claims that lack evidence.
        out_of_scope: Opinions, experiences and the like.
        abstentions: Claims that the assistant does not know, or refuses.
        without_category: Claims that are not verified, and were not asked why.
        failed: Claims whose check did not succeed.
        undecided: Claims of which the judge could not tell.
    """

    stage: int
    status: Status
    label: DialogueLabel | None
    verified: int = 0
    contradicted: int = 0
    lacking_evidence: int = 0
    out_of_scope: int = 0
    abstentions: int = 0
    without_category: int = 0
    failed: int = 0
    undecided: int = 0

    @property
    def is_open(self) -> bool:
        """Return whether a claim is undecided, so that its score cannot be told."""
        return self.status.is_result and self.undecided > 0

    @property
    def verifiable(self) -> int:
        """Claims that a source could confirm, as the score counts them."""
        return self.verified + self.contradicted + self.lacking_evidence + self.without_category

    @property
    def counts(self) -> bool:
        """Return whether the turn adds to the score of the dialogue."""
        return self.status is Status.SUCCEEDED

    @property
    def by_category(self) -> dict[ClaimCategory, int]:
        """Its claims by category."""
        return {
            ClaimCategory.VERIFIED: self.verified,
            ClaimCategory.OUT_OF_SCOPE: self.out_of_scope,
            ClaimCategory.CONTRADICTED: self.contradicted,
            ClaimCategory.LACKING_EVIDENCE: self.lacking_evidence,
            ClaimCategory.ABSTENTION: self.abstentions,
        }


@dataclass(frozen=True, slots=True)
class ClaimPlace:
    """A claim of a turn, and where it was made.

    Attributes:
        claim_id: The claim.
        text: What it says, or how it begins.
        node_id: The turn.
        stage: The number of the turn.
    """

    claim_id: str
    text: str
    node_id: str
    stage: int


@dataclass(frozen=True, slots=True)
class Denied:
    """A claim that later ones contradict.

    Attributes:
        number: How many later claims contradict it.
        later: The first of them.
    """

    number: int
    later: tuple[ClaimPlace, ...]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The end of a turn's latest verification, where no result counts.

    Attributes:
        status: How it ended.
        error: Why it did not succeed.
        run_id: The run.
    """

    status: Status
    error: str | None
    run_id: str


@dataclass(frozen=True, slots=True)
class LinkedClaims:
    """The links of the claims of some turns to other claims, turns and texts.

    Attributes:
        places: Claims of other turns by claim_id.
        denied: Later claims that contradict a claim, by claim_id.
        knowledge: Texts of initial knowledge, and of contradicted turns, by node_id.
        numbers: Numbers of turns that checks name, by turn_id.
        unfinished: How turns ended of which no result counts, by turn_id.
        open_claim: The claim whose background was read.
    """

    places: Mapping[str, ClaimPlace]
    denied: Mapping[str, Denied]
    knowledge: Mapping[str, str]
    numbers: Mapping[str, int]
    unfinished: Mapping[str, Unfinished]
    open_claim: str | None = None


@dataclass(frozen=True, slots=True)
class DialogueCost:
    """The cost of the verification of turns.

    Attributes:
        turns: How many turns were verified, each run by itself.
        usage: What their calls cost together.
        modelled: How many of them a model was asked about.
        unmetered: How many of these succeeded and do not say what it took.
        changed_at: When the latest run began; None: there is none.
    """

    turns: int = 0
    usage: Usage = NO_USAGE
    modelled: int = 0
    unmetered: int = 0
    changed_at: str | None = None


def course_of(turns: Sequence[TurnCounts]) -> dict[int, float | None]:
    """The score over all turns up to each one, by the number of the turn.

    From a turn with an undecided claim on there is none.

    Source: ours (docs/adr/0037-dialogues.md).
    """
    verified = verifiable = 0
    is_open = False
    course: dict[int, float | None] = {}
    for turn in turns:
        is_open |= turn.is_open
        if turn.counts:
            verified, verifiable = verified + turn.verified, verifiable + turn.verifiable
        course[turn.stage] = verified / verifiable if verifiable and not is_open else None
    return course
