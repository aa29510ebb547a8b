"""The list of processes, and a process: how its claims stand, which to look at, what they cost.

Source: VeriTrail 3.2 (verdicts, error stages); docs/page.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from veritrail_graph.api.app.summaries import Place, Ranked
from veritrail_graph.api.show.answer import AnswerText, TextClaim
from veritrail_graph.api.show.costs import Spent, spent
from veritrail_graph.api.show.dialogue import listed_mark, unchecked_mark
from veritrail_graph.api.show.located import went_wrong
from veritrail_graph.api.show.texts import Clipped, clip, part_of
from veritrail_graph.api.show.words import (
    MARKS,
    VERDICT_OF,
    Mark,
    State,
    mark_now,
    mark_of,
    short_reason,
)
from veritrail_graph.graph.model import Process, Reviewed, Status, Verdict
from veritrail_graph.graph.model.listed import (
    NEVER,
    ClaimFilter,
    JudgedClaim,
    OutcomeSummary,
    PlacedClaim,
    Tally,
    UnreadyProcess,
)

ROW_BYTES = 900
"""Bytes of HTML that a claim in the list may have."""

REVIEW_WORDS: Mapping[str, str] = {
    "none": "Not reviewed",
    "any": "Reviewed",
    "confirmed": "Confirmed",
    "overridden": "Overridden",
    "unclear": "Claim unclear",
}
"""What a page calls the filters of reviews."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filters of the claims of a process; None: any.

    Attributes:
        verdict: The kind of their mark.
        error_stage: A stage at which unsupported content came in.
        review: What people said of them.
    """

    verdict: State | None = None
    error_stage: int | None = None
    review: str | None = None

    @property
    def is_narrow(self) -> bool:
        """Return whether any filter is on."""
        return (self.verdict, self.error_stage, self.review) != (None, None, None)

    @property
    def filter(self) -> ClaimFilter:
        """Return the same for the store."""
        verdict = VERDICT_OF.get(self.verdict) if self.verdict else None
        return ClaimFilter(
            verdict.value if verdict else self.verdict, self.error_stage, self.review
        )

    def leaves_out(self, claim: PlacedClaim) -> bool:
        """Say whether a claim of the text is faded; what people said of it is not known there."""
        if self.verdict is not None and mark_now(claim).kind != self.verdict:
            return True
        return self.error_stage is not None and self.error_stage not in claim.error_stages


class Count(NamedTuple):
    """The number of claims with a mark.

    Attributes:
        mark: The mark.
        claims: How many claims.
    """

    mark: Mark
    claims: int


@dataclass(frozen=True, slots=True)
class Said:
    """A summary of the reviews of a claim.

    Attributes:
        words: In words.
        mark: Their verdict, where it is another than the model's; else None.
        reviews: How many reviews there are.
        disputed: Whether reviewers disagree.
    """

    words: str
    mark: Mark | None
    reviews: int
    disputed: bool


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim in the list.

    Attributes:
        number: Its number among the claims of the process, counted from 1.
        claim_id: The claim.
        text: What it says.
        mark: Its state.
        stages: In words, where unsupported content came in.
        said: What people said of it, or None.
        node_id: The node that it is about.
        is_elsewhere: Whether that is another node than the one that is shown.
        part: The part of the text that holds it; None: not known, or there is one.
        failure: Why it could not be checked, in short; None: it could, or that is not known.
        went_wrong: Where a value of it came in, in words; None: none leads anywhere.
        turned: The value that the source has, and the one that was written.
        speaks_to_reader: Whether sentences of its evidence speak to the reader or to a judge.
    """

    number: int
    claim_id: str
    text: Clipped
    mark: Mark
    stages: tuple[str, ...]
    said: Said | None
    node_id: str
    is_elsewhere: bool
    part: int | None = None
    failure: str | None = None
    went_wrong: str | None = None
    turned: tuple[str, str] = ("", "")
    speaks_to_reader: bool = False


TURNED = 120
"""Characters of a value in the list."""

STATES: Mapping[Mark, str] = {
    mark: VERDICT_OF[mark.kind].value if mark.is_verdict else mark.kind.value for mark in MARKS
}
"""What the store calls the state of each mark, what needs attention first."""

RANKS: Mapping[str, int] = {name: place for place, name in enumerate(STATES.values())}
"""The place of each state among those that need attention."""


def counts(tally: Tally) -> tuple[Count, ...]:
    """Return how the claims of a process stand, what needs attention first.

    Undecided where there are.
    """
    unchecked = unchecked_mark(tally.states.get(State.UNCHECKED.value, 0), tally.of_turns)
    found = (
        Count(unchecked if mark.kind is State.UNCHECKED else mark, tally.states.get(name, 0))
        for mark, name in STATES.items()
    )
    return tuple(one for one in found if one.mark.kind is not State.UNDECIDED or one.claims)


def unsupported_in(answer: AnswerText) -> tuple[TextClaim, ...]:
    """The claims of a part of a text that are not fully supported, in its order, each once."""
    found: dict[str, TextClaim] = {}
    for segment in answer.segments:
        for claim in segment.ending:
            if claim.mark.kind is State.NOT_SUPPORTED and claim.claim_id in segment.first:
                found.setdefault(claim.claim_id, claim)
    return tuple(found.values())


def pictured_in(answer: AnswerText) -> str | None:
    """Return the claim whose picture stands beside a text at first; None: none has a verdict.

    The first that is not fully supported, else the first with a verdict.
    """
    judged = [
        claim
        for segment in answer.segments
        for claim in segment.ending
        if claim.mark.is_verdict or claim.mark.kind is State.UNDECIDED
    ]
    order = {State.NOT_SUPPORTED: 0, State.UNDECIDED: 2}
    first = min(judged, key=lambda claim: order.get(claim.mark.kind, 1), default=None)
    return first.claim_id if first is not None else None


def text_claims(claims: Iterable[PlacedClaim], wanted: Wanted) -> list[TextClaim]:
    """Claims as the text shows them; those that a filter leaves out stand back."""
    return [
        TextClaim(
            one.claim_id,
            one.text,
            listed_mark(one),
            one.start,
            one.end,
            one.also,
            one.position + 1,
            wanted.leaves_out(one),
        )
        for one in claims
    ]


def claim_rows(
    claims: Sequence[JudgedClaim],
    process: Process,
    shown_node: str | None,
    text: str | None = None,
) -> tuple[ClaimRow, ...]:
    """A page of the list of claims.

    Args:
        claims: The claims.
        process: Their process.
        shown_node: The node whose text is shown.
        text: That text, where it has several parts.
    """
    return tuple(
        ClaimRow(
            one.position + 1,
            one.claim_id,
            clip(one.text, ROW_BYTES),
            listed_mark(one),
            _stages(one, process),
            said_of(one.reviewed),
            one.node_id,
            shown_node is not None and one.node_id != shown_node,
            _part(one, shown_node, text),
            _failure(one),
            went_wrong(one, process.stage_names),
            _turned(one),
            one.speaks_to_reader,
        )
        for one in claims
    )


def _stages(one: JudgedClaim, process: Process) -> tuple[str, ...]:
    """Say where unsupported content came in: nowhere, if the answer does not say what was asked."""
    stages = () if one.said is False else one.error_stages
    return tuple(process.stage_names.get(stage) or f"stage {stage}" for stage in stages)


def _part(one: JudgedClaim, shown_node: str | None, text: str | None) -> int | None:
    start = one.start
    if text is None or one.node_id != shown_node or start is None:
        return None
    return part_of(start, text)


def _turned(one: JudgedClaim) -> tuple[str, str]:
    place = one.value_place
    if place is None:
        return "", ""
    source, wrote = place.difference.source, place.difference.wrote
    return source[:TURNED], wrote[:TURNED]


def _failure(one: JudgedClaim) -> str | None:
    is_failed = mark_now(one).kind == "failed"
    return short_reason(one.error) if is_failed and one.error else None


def said_of(reviewed: Reviewed | None) -> Said | None:
    """Return what people said of a claim, in short."""
    if reviewed is None:
        return None
    verdict: Verdict | None = reviewed.reviewed_verdict
    differs = verdict is not None and verdict is not reviewed.verdict
    mark = mark_of(verdict) if differs else None
    return Said(REVIEW_WORDS[reviewed.kind.value], mark, reviewed.reviews, reviewed.disputed)


def indicative_words(tally: Tally) -> str | None:
    """Return which verdicts are indicative only, or None where none is."""
    judged = tally.judged
    if not tally.indicative:
        return None
    if tally.indicative == judged:
        return "All verdicts in force are indicative: they rest on a comparison of words."
    return (
        f"{tally.indicative:,} of {judged:,} verdicts are indicative: "
        "they rest on a comparison of words."
    )


PAGE = 25


@dataclass(frozen=True, slots=True)
class Item:
    """A process in the list.

    Attributes:
        process_id: The process.
        name: What people call it.
        nodes: How many nodes it has.
        claims: How many claims it has.
        counts: Its claims by mark, what needs attention first; only those that occur.
        spent: What its verifications came to.
        changed_at: When it was last verified, or stored.
        is_verified: Whether any claim of it was ever verified.
        has_questions: Whether nothing but questions was.
        jobs: The jobs that verify claims of it now.
    """

    process_id: str
    name: str
    nodes: int
    claims: int
    counts: tuple[Count, ...]
    spent: Spent
    changed_at: str
    is_verified: bool
    has_questions: bool = False
    indicative: int = 0
    jobs: tuple[str, ...] = ()

    @property
    def judged(self) -> int:
        """Return how many of its claims have a verdict."""
        return sum(number for mark, number in self.counts if mark.is_verdict)

    @property
    def bar(self) -> list[tuple[str, str, int]]:
        """Return what a bar of its claims shows."""
        return [(mark.kind, mark.word, number) for mark, number in self.counts]


def counts_of(outcomes: Mapping[str, int], of_turns: int = 0) -> tuple[Count, ...]:
    """Claims by mark, what needs attention first; `of_turns` of them were checked by turn."""
    numbers: dict[str, int] = {}
    for outcome, claims in outcomes.items():
        kind = _mark(outcome).kind
        numbers[kind] = numbers.get(kind, 0) + claims
    unchecked = unchecked_mark(numbers.get(State.UNCHECKED, 0), of_turns)
    return tuple(
        Count(unchecked if mark.kind is State.UNCHECKED else mark, numbers[mark.kind])
        for mark in MARKS
        if numbers.get(mark.kind)
    )


def _mark(outcome: str) -> Mark:
    if outcome == NEVER:
        return mark_of(None)
    if outcome in set(Verdict):
        return mark_of(Verdict(outcome))
    return mark_of(None, Status(outcome))


def item_of(ranked: Ranked, standing: OutcomeSummary, jobs: Sequence[str] = ()) -> Item:
    """A process in the list, in its current state."""
    named = ranked.named
    return Item(
        process_id=named.process_id,
        name=named.name,
        nodes=named.nodes,
        claims=sum(standing.outcomes.values()),
        counts=counts_of(standing.outcomes, standing.of_turns),
        spent=spent(
            standing.usage,
            modelled=standing.modelled > 0,
            unmetered=standing.unmetered > 0,
        ),
        changed_at=max(standing.changed_at or "", named.created_at),
        is_verified=standing.verified > 0,
        indicative=standing.indicative,
        has_questions=standing.changed_at is not None and not standing.verified,
        jobs=tuple(jobs),
    )


def wanted(ranked: Iterable[Ranked], search: str, after: Place | None) -> list[Ranked]:
    """Those whose name or id holds every word that is searched for, behind a place."""
    words = search.casefold().split()
    return [
        one
        for one in ranked
        if (after is None or one.place > after)
        and all(word in f"{one.named.name}\n{one.named.process_id}".casefold() for word in words)
    ]


def unready_words(one: UnreadyProcess) -> str:
    """Return what becomes of a process that is not ready."""
    if one.is_left:
        if one.status == "deleting":
            return "was left half-removed; remove it again"
        return "was left half-written; upload it again to go on"
    words = {"loading": "is being stored", "deleting": "is being removed"}
    return words.get(one.status, "is being replaced")
