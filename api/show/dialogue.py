"""Dialogues as people read them: marks of claims and turns, what is told of a turn, the chart.

A mark is a word and an icon together; colour only repeats what they say. A claim whose check failed
has none of the five categories.

Source: VISTA 3 (labels and categories); the score is ours (docs/adr/0037-dialogues.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from veritrail_graph.api.show.words import (
    CLAIM_CATEGORY_WORDS,
    DIALOGUE_LABEL_WORDS,
    LONGEST_REASON,
    UNCHECKED,
    Mark,
    State,
    mark_now,
    mark_of,
)
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.ablation import LeftOut, checks_turns, left_out
from veritrail_graph.graph.model.conversation import TurnCounts, course_of
from veritrail_graph.graph.model.dialogue import (
    ClaimCategory,
    DialogueLabel,
    DialogueRunSummary,
    Speaker,
    TurnCheck,
    TurnClaim,
    TurnVerification,
)
from veritrail_graph.graph.model.listed import JudgedClaim, PlacedClaim

SPEAKER_WORDS: Mapping[Speaker, str] = MappingProxyType(
    {
        Speaker.USER: "User",
        Speaker.ASSISTANT: "Assistant",
        Speaker.SYSTEM: "System",
        Speaker.TOOL: "Tool",
    }
)
"""Who speaks."""


def _mark(kind: State, category: ClaimCategory, icon: str, hint: str) -> Mark:
    return Mark(kind, CLAIM_CATEGORY_WORDS[category], icon, hint)


CLAIM_MARKS: Mapping[ClaimCategory, Mark] = MappingProxyType(
    {
        ClaimCategory.VERIFIED: _mark(
            State.SUPPORTED,
            ClaimCategory.VERIFIED,
            "supported",
            "It follows from the documents of its turn, or from what the assistant said before.",
        ),
        ClaimCategory.OUT_OF_SCOPE: _mark(
            State.UNCHECKED,
            ClaimCategory.OUT_OF_SCOPE,
            "opinion",
            "It is an opinion, an experience or advice, which no source can confirm.",
        ),
        ClaimCategory.CONTRADICTED: _mark(
            State.NOT_SUPPORTED,
            ClaimCategory.CONTRADICTED,
            "not-supported",
            "It cannot be true together with a document, or with what the assistant said before.",
        ),
        ClaimCategory.LACKING_EVIDENCE: _mark(
            State.INCONCLUSIVE,
            ClaimCategory.LACKING_EVIDENCE,
            "expected",
            "It states a fact of which the documents do not say enough.",
        ),
        ClaimCategory.ABSTENTION: _mark(
            State.UNCHECKED,
            ClaimCategory.ABSTENTION,
            "abstention",
            "It says that the assistant does not know, or refuses.",
        ),
    }
)
"""The marks of the five categories."""

NOT_VERIFIED = Mark(
    State.NOT_SUPPORTED,
    DIALOGUE_LABEL_WORDS[DialogueLabel.UNVERIFIABLE],
    "not-supported",
    "It was not verified, and nothing was asked about the reason.",
)
"""The mark of a claim that is not verified, in a run without categories."""

CLAIM_UNDECIDED = Mark(
    State.UNDECIDED,
    "cannot tell",
    "undecided",
    "Without a model it cannot be told whether its documents, or what the assistant said before, "
    "say this. That says nothing for or against the claim.",
)
"""The mark of a claim of which the judge could not tell."""

TURN_UNDECIDED = replace(
    CLAIM_UNDECIDED,
    hint="Of a claim of the turn it cannot be told without a model whether it is verified, and "
    "no other claim decides the label.",
)
"""The mark of a turn whose label undecided claims leave open."""

TURN_VERIFIED = Mark(
    State.SUPPORTED,
    DIALOGUE_LABEL_WORDS[DialogueLabel.VERIFIED],
    "supported",
    "All claims of the turn are verified.",
)
TURN_UNVERIFIABLE = Mark(
    State.INCONCLUSIVE,
    DIALOGUE_LABEL_WORDS[DialogueLabel.UNVERIFIABLE],
    "inconclusive",
    "Not all claims of the turn are verified; each says why.",
)
OF_TURNS = Mark(
    State.UNCHECKED,
    "Checked by turn",
    "unchecked",
    "No trail to the sources was looked for; the conversation shows what was found of its turn.",
)
"""The mark of claims of turns among the claims of a process, which are counted by verdict."""

NO_CLAIMS = Mark(
    State.UNCHECKED, "no claims", "unchecked", "The turn makes no claim, so it has no label."
)
NOT_CHECKED = Mark(
    State.UNCHECKED,
    "not checked",
    "unchecked",
    "No verification of this turn is stored. That says nothing about the turn.",
)

SCORE_OPEN = "cannot be told"
"""The score where claims are undecided."""

SCORE_WORDS = "verified claims among those that a source could confirm; this score is ours"
"""What the score is."""


def unchecked_mark(unchecked: int, of_turns: int) -> Mark:
    """The mark of claims without a verdict; where all are claims of turns, they were checked.

    Args:
        unchecked: How many claims have no verification of their own.
        of_turns: How many of these have a category as claims of turns.
    """
    return OF_TURNS if unchecked and unchecked == of_turns else UNCHECKED


def listed_mark(found: JudgedClaim | PlacedClaim) -> Mark:
    """The mark of a claim in a list; of one that was never verified, that of its category."""
    if found.category is not None and found.verdict is None and found.status is None:
        return CLAIM_MARKS[found.category]
    return mark_now(found)


def claim_mark(claim: TurnClaim) -> Mark:
    """The mark of a claim of a turn; one whose check failed has a mark of its own."""
    if claim.status is Status.UNDECIDED:
        return CLAIM_UNDECIDED
    if claim.status is not Status.SUCCEEDED:
        return ended_mark(claim.status, claim.error, "claim")
    if claim.category is not None:
        return CLAIM_MARKS[claim.category]
    return NOT_VERIFIED


def turn_mark(turn: TurnVerification | None) -> Mark:
    """The mark of a turn: its label, or why it has none; None: it was not verified."""
    if turn is None:
        return NOT_CHECKED
    if turn.status is Status.UNDECIDED:
        return TURN_UNDECIDED
    if turn.status is not Status.SUCCEEDED:
        return ended_mark(turn.status, turn.error, "turn")
    if turn.label is None:
        return NO_CLAIMS
    if turn.label is DialogueLabel.VERIFIED:
        return TURN_VERIFIED
    wrong = {ClaimCategory.CONTRADICTED, None}
    decided = (one for one in turn.claims if one.status is not Status.UNDECIDED)
    is_wrong = any(one.category in wrong for one in decided)
    if not is_wrong:
        return TURN_UNVERIFIABLE
    return replace(TURN_UNVERIFIABLE, kind=State.NOT_SUPPORTED, icon="not-supported")


def ended_mark(status: Status, error: str | None, of: str) -> Mark:
    """The mark of a turn or a claim that did not succeed, with the reason."""
    mark = mark_of(None, status)
    word = "failed" if status is Status.FAILED else mark.word.lower()
    why = f" {error[:LONGEST_REASON]}" if error else ""
    return replace(mark, word=word, hint=f"This says nothing about the {of}.{why}")


def claim_counts(claims: Iterable[TurnClaim]) -> list[tuple[Mark, int]]:
    """Claims by mark, in the order of the categories; others behind them."""
    return _counted(claim_mark(one) for one in claims)


def _counted(marks: Iterable[Mark]) -> list[tuple[Mark, int]]:
    found = Counter((one.kind, one.word, one.icon) for one in marks)
    order = {(one.kind, one.word, one.icon): n for n, one in enumerate(CLAIM_MARKS.values())}
    marks = (*CLAIM_MARKS.values(), CLAIM_UNDECIDED)
    known = {(one.kind, one.word, one.icon): one for one in marks}
    return [
        (known.get(key, Mark(*key, hint="")), found[key])
        for key in sorted(found, key=lambda key: (order.get(key, len(order)), key))
    ]


def total_counts(turns: Sequence[TurnCounts]) -> list[tuple[Mark, int]]:
    """The claims of a whole dialogue by mark; kinds without a claim are left out."""
    found = [
        (CLAIM_MARKS[category], sum(one.by_category[category] for one in turns))
        for category in CLAIM_MARKS
    ]
    found += [
        (NOT_VERIFIED, sum(one.without_category for one in turns)),
        (CLAIM_UNDECIDED, sum(one.undecided for one in turns)),
        (ended_mark(Status.FAILED, None, "claim"), sum(one.failed for one in turns)),
    ]
    return [(mark, number) for mark, number in found if number]


def score_words(score: float | None, counts: Iterable[tuple[Mark, int]]) -> str:
    """Return a score in words: none where nothing could be confirmed.

    Args:
        score: The score.
        counts: The claims by mark.
    """
    if score is not None:
        return f"{score:.2f}"
    is_open = any(mark == CLAIM_UNDECIDED for mark, _ in counts)
    return SCORE_OPEN if is_open else "none"


def score_of(turns: Sequence[TurnCounts]) -> float | None:
    """The score of a whole dialogue; None: no claim of it could be confirmed, or one is open."""
    course = list(course_of(turns).values())
    return course[-1] if course else None


def cut_words(turn: TurnVerification) -> list[str]:
    """Return what was not shown in the prompts of a turn, and what the background lacks."""
    lines = []
    cut = []
    if turn.history_left_out:
        cut.append(counted(turn.history_left_out, "earlier turn"))
    if turn.background_left_out:
        cut.append(counted(turn.background_left_out, "remembered fact"))
    if cut:
        lines.append(f"not shown in the prompts: {' and '.join(cut)}")
    if turn.background_lacks:
        lines.append(f"not all is remembered of {counted(turn.background_lacks, 'earlier turn')}")
    return lines


_LEFT_OUT: Mapping[LeftOut, str] = MappingProxyType(
    {
        LeftOut.BACKGROUND: "no background",
        LeftOut.HISTORY: "no history",
        LeftOut.CATEGORIES: "no categories",
        LeftOut.EXAMPLES: "prompts without examples",
        LeftOut.FACTS: "remembered fact",
        LeftOut.TURNS: "earlier turn",
    }
)


def left_out_words(settings: str | None) -> str:
    """Return what of the method a run left out, such as "no background"; empty: nothing.

    Args:
        settings: The settings of the run, as JSON; None: they are not known.
    """
    limits = (LeftOut.FACTS, LeftOut.TURNS)
    return ", ".join(
        f"at most {counted(limit, _LEFT_OUT[one])}" if one in limits else _LEFT_OUT[one]
        for one, limit in left_out(settings).items()
    )


def setting_words(settings: str | None) -> str:
    """Return what a run did in another way than usual.

    What it left out, and the check of whole turns.
    """
    check = "with the check of whole turns" if checks_turns(settings) else ""
    return ", ".join(one for one in (left_out_words(settings), check) if one)


def run_words(run: DialogueRunSummary) -> str:
    """Return what tells a run from others.

    Engine, model, and what it did in another way than usual.
    """
    by = f"{run.engine} {run.model[:100]}" if run.model else run.engine
    how = setting_words(run.settings)
    parts = [by, "indicative only" if run.indicative else "", how, counted(run.turns, "turn")]
    return ", ".join(one for one in parts if one)


def check_words(check: TurnCheck | None) -> str:
    """Return what the check of a whole turn says, without its quotes; empty: it was not asked."""
    if check is None:
        return ""
    if not check.contradiction:
        return "no contradiction to earlier turns as a whole"
    return "As a whole, the turn contradicts an earlier one."


MOST_BARS = 60
"""Bars of a chart; of a longer dialogue each stands for several turns."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A turn in the chart, or several in a row.

    Attributes:
        first: Number of its first turn.
        last: Number of its last turn.
        score: The score of its turns; None: there is none.
        so_far: The score over all turns up to here; None: there is none.
        contradicted: How many of its claims are contradicted.
        failed: How many of its turns did not succeed.
        undecided: How many of its claims are undecided, so that there is no score.
        is_open: Whether that is so up to here.
    """

    first: int
    last: int
    score: float | None
    so_far: float | None
    contradicted: int
    failed: int
    undecided: int = 0
    is_open: bool = False

    @property
    def words(self) -> str:
        """The turns that it stands for."""
        return f"{self.first:,}" if self.first == self.last else f"{self.first:,} to {self.last:,}"


@dataclass(frozen=True, slots=True)
class Chart:
    """The score over the turns of a dialogue, as a drawing 600 wide and 100 high.

    Attributes:
        bars: The bars, in their order.
        wide: The width of a place.
        line: The course, as points of a line.
        words: The same in a sentence or two.
    """

    bars: tuple[Bar, ...]
    wide: float
    line: str
    words: str


CHART_WIDTH = 600
CHART_HEIGHT = 100


def chart_of(turns: Sequence[TurnCounts], most: int = MOST_BARS) -> Chart | None:
    """The chart; None where no claim could be confirmed."""
    course = course_of(turns)
    if not any(one is not None for one in course.values()):
        return None
    size = -(-len(turns) // most)
    groups = [turns[start : start + size] for start in range(0, len(turns), size)]
    bars = tuple(
        Bar(
            group[0].stage,
            group[-1].stage,
            _share(group),
            course[group[-1].stage],
            sum(one.contradicted for one in group),
            sum(not one.status.is_result for one in group),
            sum(one.undecided for one in group if one.is_open),
            any(one.is_open and one.stage <= group[-1].stage for one in turns),
        )
        for group in groups
    )
    if not any(bar.score is not None for bar in bars):  # undecided claims are in every one
        return None
    wide = CHART_WIDTH / len(bars)
    points = [
        f"{wide * (place + 0.5):.1f},{CHART_HEIGHT * (1 - bar.so_far):.1f}"
        for place, bar in enumerate(bars)
        if bar.so_far is not None
    ]
    return Chart(bars, wide, " ".join(points), _chart_words(bars))


def _share(turns: Sequence[TurnCounts]) -> float | None:
    if any(one.is_open for one in turns):
        return None
    verified = sum(one.verified for one in turns if one.counts)
    verifiable = sum(one.verifiable for one in turns if one.counts)
    return verified / verifiable if verifiable else None


def _chart_words(bars: Sequence[Bar]) -> str:
    scored = [one for one in bars if one.score is not None]
    last = bars[-1].so_far
    lowest = min(scored, key=lambda one: one.score or 0.0)
    of = "turn" if lowest.first == lowest.last else "turns"
    words = f"Score over all turns: {SCORE_OPEN if last is None else f'{last:.2f}'}."
    if lowest.score is not None and lowest.score < 1:
        words += f" The lowest is {lowest.score:.2f}, in {of} {lowest.words}."
    denied = [one for one in bars if one.contradicted]
    if denied:
        number = sum(one.contradicted for one in denied)
        verb = "is" if number == 1 else "are"
        words += (
            f" {counted(number, 'claim')} {verb} contradicted, the first in turn {denied[0].words}."
        )
    return words
