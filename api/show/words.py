"""Words and marks of verdicts and statuses: the one table that every rendering reads.

A mark is a word and an icon together; colour only repeats what they say. A claim that could not
be checked is never shown as unsupported.

Source: VeriTrail 2 (the three verdicts), 3.1.4 (why a walk stops); docs/page.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from veritrail_graph.graph.model import (
    Reviewed,
    ReviewKind,
    ReviewVerdict,
    Status,
    Termination,
    Verdict,
    Verification,
)
from veritrail_graph.graph.model.attribution import AttributionCategory, Faithfulness
from veritrail_graph.graph.model.dialogue import ClaimCategory, DialogueLabel

INDICATIVE_IN_PART = "indicative only where they rest on a comparison of words"
"""What is said of verdicts some of which may be indicative."""
BY_WORDS = "lexical"
"""The engine that compares words."""
_JUDGES = {
    "nli": "an entailment model",
    "decisions": "a decision model",
    "openai": "a language model",
    "azure": "a language model",
    "recorded": "recorded answers of a language model",
}

NO_MODEL = "Cannot tell without a model"
"""How the reason begins where no model was asked and words alone decide nothing."""

LONGEST_REASON = 300
"""Characters of the reason of a failure that are shown beside its mark."""

VERDICT_WORDS: Mapping[Verdict, str] = MappingProxyType(
    {
        Verdict.FULLY_SUPPORTED: "Fully Supported",
        Verdict.NOT_FULLY_SUPPORTED: "Not Fully Supported",
        Verdict.INCONCLUSIVE: "Inconclusive",
    }
)
"""The verdicts by their names in the paper."""

CATEGORY_WORDS: Mapping[AttributionCategory, str] = MappingProxyType(
    {
        AttributionCategory.EVIDENCE: "evidence",
        AttributionCategory.CONTRADICTION: "contradiction",
        AttributionCategory.NEAR_MATCH: "near match",
        AttributionCategory.EXPECTED_SPAN: "expected here",
    }
)
"""What a source sentence is to the sentence that rests on it."""

FAITHFULNESS_WORDS: Mapping[Faithfulness, str] = MappingProxyType(
    {Faithfulness.FAITHFUL: "faithful", Faithfulness.UNFAITHFUL: "unfaithful"}
)
"""Whether a sentence is faithful to its sources."""

CLAIM_CATEGORY_WORDS: Mapping[ClaimCategory, str] = MappingProxyType(
    {
        ClaimCategory.VERIFIED: "verified",
        ClaimCategory.OUT_OF_SCOPE: "out of scope",
        ClaimCategory.CONTRADICTED: "contradicted",
        ClaimCategory.LACKING_EVIDENCE: "lacking evidence",
        ClaimCategory.ABSTENTION: "abstention",
    }
)
"""Whether a claim of a turn is verified and, if it is not, why."""

DIALOGUE_LABEL_WORDS: Mapping[DialogueLabel, str] = MappingProxyType(
    {DialogueLabel.VERIFIED: "verified", DialogueLabel.UNVERIFIABLE: "unverifiable"}
)
"""What is said of a claim or of a turn as a whole."""

WAITING = (Status.QUEUED, Status.RUNNING)
"""Verifications that have not ended: nothing can be said of their claims yet."""

ENDINGS: Mapping[Termination, str] = MappingProxyType(
    {
        Termination.NO_CANDIDATES: "nothing was left to read",
        Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT: "only sources with evidence were left",
        Termination.NO_AGREEMENT: (
            "sentences were selected, but none by as many samples as must agree"
        ),
        Termination.MAX_CONSECUTIVE_NOT_FULLY_SUPPORTED: (
            "the verdict was Not Fully Supported q times in a row"
        ),
    }
)
"""Why a walk stopped."""

WITHOUT_VERDICT: Mapping[Status, str] = MappingProxyType(
    {
        Status.QUEUED: "This verification waits for its turn.",
        Status.RUNNING: "This verification is under way.",
        Status.UNDECIDED: "The samples did not agree on any evidence, so there is no verdict.",
        Status.FAILED: "This verification failed, so there is no verdict.",
        Status.OVER_BUDGET: (
            "The budget was spent before this verification ended, so there is no verdict."
        ),
        Status.CANCELLED: "This verification was cancelled, so there is no verdict.",
    }
)
"""What to say in place of a verdict, by status; of a judge that cannot tell: `without_verdict`."""

CANNOT_TELL_WORDS = (
    "Without a model it cannot be told whether the sources say this, so there is no verdict."
)
"""What is said in place of a verdict where words were compared and no model was asked."""


class State(StrEnum):
    """The result for a claim: one of the three verdicts, none (and why), or no check at all."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not-supported"
    INCONCLUSIVE = "inconclusive"
    UNDECIDED = "undecided"
    FAILED = "failed"
    UNCHECKED = "unchecked"


STATE_OF: Mapping[Verdict, State] = MappingProxyType(
    {
        Verdict.FULLY_SUPPORTED: State.SUPPORTED,
        Verdict.NOT_FULLY_SUPPORTED: State.NOT_SUPPORTED,
        Verdict.INCONCLUSIVE: State.INCONCLUSIVE,
    }
)
"""The state of a claim with this verdict."""

VERDICT_OF: Mapping[State, Verdict] = MappingProxyType(
    {state: verdict for verdict, state in STATE_OF.items()}
)
"""The verdict of a state; undecided, failed and unchecked have none."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The state of a claim, or of one of its verifications, as it is shown.

    Attributes:
        kind: The state; its class in the style sheet is `mark-KIND`.
        word: Its name.
        icon: Name of its icon.
        hint: What it means, in a sentence; of a failure also the reason.
        indicative: Whether no model judged.
    """

    kind: State
    word: str
    icon: str
    hint: str
    indicative: bool = False

    @property
    def is_verdict(self) -> bool:
        """Return whether it is a verdict."""
        return self.kind in VERDICT_OF


def _mark(kind: State, word: str, hint: str) -> Mark:
    return Mark(kind, word, kind.value, hint)


SUPPORTED = _mark(
    State.SUPPORTED,
    VERDICT_WORDS[Verdict.FULLY_SUPPORTED],
    "The sources support everything that the claim says.",
)
NOT_SUPPORTED = _mark(
    State.NOT_SUPPORTED,
    VERDICT_WORDS[Verdict.NOT_FULLY_SUPPORTED],
    "The sources do not support all of what the claim says.",
)
INCONCLUSIVE = _mark(
    State.INCONCLUSIVE,
    VERDICT_WORDS[Verdict.INCONCLUSIVE],
    "What was found allows no decision for or against the claim.",
)
UNDECIDED = _mark(
    State.UNDECIDED,
    "Cannot tell",
    "It was checked, and there is no verdict: without a model it cannot be told, or samples did "
    "not agree. This says nothing for or against the claim.",
)
CANNOT_TELL = replace(
    UNDECIDED,
    hint=f"{CANNOT_TELL_WORDS} This says nothing for or against the claim.",
)
DISAGREED = replace(
    UNDECIDED,
    hint="Samples did not agree on any evidence. This says nothing for or against the claim.",
)
FAILED = _mark(
    State.FAILED,
    "Could not be checked",
    "The verification did not end. This says nothing about the claim.",
)
UNCHECKED = _mark(State.UNCHECKED, "Not checked", "This claim has not been checked yet.")

MARKS: tuple[Mark, ...] = (
    NOT_SUPPORTED,
    INCONCLUSIVE,
    UNDECIDED,
    FAILED,
    UNCHECKED,
    SUPPORTED,
)
"""All marks, what needs attention first."""

BY_KIND: Mapping[State, Mark] = MappingProxyType({mark.kind: mark for mark in MARKS})
"""The marks by state."""

UNSAID = "The answer does not say this."
"""In place of where an error came in, for a question about something else."""
SAYING_OPEN = "Comparing words cannot tell whether the answer says this."
"""The same for a question that has words of the answer: no step is blamed for it either."""

RANK: Mapping[State, int] = MappingProxyType({mark.kind: at for at, mark in enumerate(MARKS)})
"""By state: its place among those that need attention; 0 comes first."""

_WITHOUT_VERDICT: Mapping[Status, Mark] = MappingProxyType(
    {
        Status.QUEUED: replace(UNCHECKED, word="Waiting", hint="Its check has not begun yet."),
        Status.RUNNING: replace(UNCHECKED, word="Being checked", hint="Its check is under way."),
        Status.FAILED: FAILED,
        Status.OVER_BUDGET: replace(
            FAILED,
            word="Over budget",
            hint="The budget was spent before the verification ended. This says nothing about "
            "the claim.",
        ),
        Status.CANCELLED: replace(
            FAILED,
            word="Cancelled",
            hint="The verification was cancelled before it ended. This says nothing about the "
            "claim.",
        ),
    }
)


def mark_of(
    verdict: Verdict | None,
    status: Status | None = None,
    failure: str | None = None,
    *,
    indicative: bool | None = False,
) -> Mark:
    """The mark of a claim, or of one of its verifications.

    Args:
        verdict: The verdict, if there is one; it counts before any status.
        status: Without a verdict: the status of the latest verification; None: there is none.
        failure: Why there is no verdict.
        indicative: Whether no model judged.
    """
    if verdict is not None:
        mark = BY_KIND[STATE_OF[verdict]]
        if indicative:
            hint = f"{mark.hint} The verdict is indicative: it rests on a comparison of words."
            return replace(mark, hint=hint, indicative=True)
        return mark
    if status is Status.UNDECIDED:
        return CANNOT_TELL if _cannot_tell(failure, indicative) else DISAGREED
    mark = UNCHECKED if status is None else _WITHOUT_VERDICT.get(status, UNCHECKED)
    if mark.kind is State.FAILED and failure:
        return replace(mark, hint=f"{mark.hint} Reason: {short_reason(failure)}")
    return mark


def _cannot_tell(error: str | None, indicative: bool | None) -> bool:
    """Return whether what is undecided is so because no model was asked."""
    return bool(indicative) or (error or "").startswith(NO_MODEL)


def without_verdict(verification: Verification) -> str | None:
    """Return what is said in place of the verdict of a verification; None: it has one."""
    is_undecided = verification.status is Status.UNDECIDED
    if is_undecided and _cannot_tell(verification.error, verification.indicative):
        return CANNOT_TELL_WORDS
    return WITHOUT_VERDICT.get(verification.status)


def reason_apart(verification: Verification) -> str | None:
    """Return why there is no verdict, where the reasoning does not say the same already."""
    error = verification.error
    return None if error == verification.reasoning else error


class _Kept(Protocol):
    """A claim with its verification in force."""

    @property
    def verdict(self) -> Verdict | None: ...
    @property
    def engine(self) -> str | None: ...
    @property
    def model(self) -> str | None: ...
    @property
    def q(self) -> int | None: ...
    @property
    def indicative(self) -> bool | None: ...


def judged_by(engine: str, model: str | None) -> str:
    """Return an engine with its model, if it asks one."""
    return f"{engine} {model}" if model else engine


def replaced_words(claims: int, kept: str) -> str:
    """Say of how many results another one counts.

    Args:
        claims: How many.
        kept: What stays in force in their place.
    """
    return f"{claims:,} of these verdicts replace none: {kept}."


def outweighed_words(claims: int, kept: str, what: str, run_id: str | None) -> str:
    """Say that results replace none, and how they would.

    Args:
        claims: How many.
        kept: What stays in force in their place.
        what: What gave them: `run` or `check`.
        run_id: Their run.
    """
    return f"{replaced_words(claims, kept)} To let this {what} decide: veritrail pin {run_id}"


def kept_words(kept: _Kept, made: Verification | None) -> str:
    """Say which verification stays in force in place of one that was made later, and why.

    Args:
        kept: The claim with its verification in force.
        made: The later one; None: not known.
    """
    what = "the verdict" if kept.verdict is not None else "the result"
    if made is None:
        return f"{what} of another run stays in force"
    if (kept.engine, kept.model) == (made.engine, made.model) and (kept.q or 0) > made.q:
        return f"{what} of the same judge is kept from q = {kept.q}"
    if made.indicative and not kept.indicative:
        return f"{what} of a stronger judge stays in force"
    if made.verdict is None:
        return f"{what} of another judge, which decided, stays in force"
    return f"{what} of another run stays in force"


class _Judged(Protocol):
    """A claim with its latest result, or one of its verifications."""

    @property
    def verdict(self) -> Verdict | None: ...
    @property
    def status(self) -> Status | None: ...
    @property
    def error(self) -> str | None: ...
    @property
    def indicative(self) -> bool | None: ...


def mark_now(found: _Judged | None) -> Mark:
    """The mark of a claim, or of one of its verifications; None: there is no verification."""
    if found is None:
        return UNCHECKED
    return mark_of(found.verdict, found.status, found.error, indicative=found.indicative)


def indicative_reason(*engines: str) -> str:
    """Return why verdicts of engines are indicative only.

    What was compared by words, and what was not.

    Args:
        engines: Names of engines, such as `lexical`, or `lexical+nli` where the last one gave the
            verdicts and the first one selected the evidence. At least one of them compares words.
    """
    if len(set(engines)) > 1:
        return "words were compared to select the evidence or to judge"
    evidence, _, verdicts = (engines[0] if engines else "").partition("+")
    if not verdicts or evidence == verdicts:
        return "no language model judged, words were compared"
    if verdicts == BY_WORDS:
        return f"words were compared to judge; {_who(evidence)} selected the evidence"
    return f"words were compared to select the evidence; {_who(verdicts)} gave the verdicts"


def _who(engine: str) -> str:
    return _JUDGES.get(engine, f"the engine {engine}")


def indicative_words(*engines: str) -> str:
    """Return what is said of verdicts that are indicative only; see `indicative_reason`."""
    return f"indicative only: {indicative_reason(*engines)}"


def with_reason(word: str, reason: str | None) -> str:
    """The name of a state with its reason, once where the reason begins with it."""
    why = reason or "no reason was kept"
    return why if why.startswith(word) else f"{word}: {why}"


def short_reason(failure: str) -> str:
    """The reason of a failure, cut where it is long."""
    return failure if len(failure) <= LONGEST_REASON else f"{failure[:LONGEST_REASON]}…"


def unsaid_words(verification: Verification) -> str | None:
    """Return the words in place of an error's place, of a question that nobody is blamed for."""
    if verification.is_unsaid:
        return UNSAID
    return SAYING_OPEN if verification.is_saying_open else None


def unsaid_in_short(verification: Verification) -> str:
    """Return the same in the cell of a table; empty: a step may be blamed."""
    if verification.is_unsaid:
        return "not said"
    return "cannot tell" if verification.is_saying_open else ""


NO_AGREEMENT = "Samples selected sentences, but none by as many of them as must agree."
"""What to say where nothing counts as selected for that reason."""


def not_found_words(read: int, sources: int | None, *, by_words: bool) -> str:
    """Return what was looked for in texts that were read, and not found.

    Args:
        read: How many nodes were read.
        sources: How many of them are source texts, where that is known.
        by_words: Whether sentences were looked for by their words.
    """
    if not read:
        return "Nothing was read for this."
    texts, of = (sources, "source text") if sources else (read, "node")
    where = f"the {of} that was read" if texts == 1 else f"the {texts:,} {of}s that were read"
    if sources == 0:
        where += ", which is" if texts == 1 else ", none of which is"
        where += " no source text," if texts == 1 else " a source text,"
    if by_words:
        return f"No sentence of {where} says this in these words."
    return f"No sentence was selected from {where.removesuffix(',')}."


def selects_by_words(engine: str) -> bool:
    """Return whether an engine looks for sentences by their words."""
    return engine.partition("+")[0] == BY_WORDS


def review_mark(verdict: ReviewVerdict | None) -> Mark:
    """The mark of a person's review; `Unclear` where the claim itself was called so."""
    if verdict is None:
        return UNCHECKED
    if verdict is ReviewVerdict.UNCLEAR:
        return Mark(State.INCONCLUSIVE, "Unclear", "unclear", "The claim itself is unclear.")
    return BY_KIND[STATE_OF[Verdict(verdict.value)]]


def review_state_words(found: Reviewed | None) -> str:
    """Return the state of the reviews of a claim, for a cell of a table; empty: none."""
    if found is None:
        return ""
    words = found.kind.value
    if found.kind is ReviewKind.OVERRIDDEN:
        words = f"{words}: {review_mark(found.latest.verdict).word}"
    return f"{words}, disputed" if found.disputed else words


def ending_words(verification: Verification) -> str | None:
    """Return why the walk stopped, or None where it did not come to its end."""
    if verification.termination is None:
        return None
    words = ENDINGS[verification.termination]
    if verification.termination is Termination.MAX_CONSECUTIVE_NOT_FULLY_SUPPORTED:
        return f"{words} (q = {verification.q})"
    return words


def stage_words(stage: int, names: Mapping[int, str]) -> str:
    """Return what a stage is called; its number where the input does not name it."""
    return names.get(stage) or f"stage {stage}"


def either(names: Sequence[str]) -> str:
    """Candidates of which one, and not known which, is meant: `a, b or c`."""
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else "".join(names)


def introduced_words(candidates: int) -> str:
    """Return the words for a place where an error came in, or for one of several candidates."""
    return "introduced here" if candidates < 2 else "perhaps introduced here"


def in_short(count: float) -> str:
    """A count in little room: `95k` for 95,465."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= 10 * size:
            return f"{int(count // size):,}{letter}"
    return in_parts(count)


def in_parts(count: float) -> str:
    """A count of claims some of which count in parts: `7.5`, and `7` where it is whole."""
    return f"{count:,.1f}".removesuffix(".0")


def share(part: float, whole: float) -> str:
    """A part of a whole in percent; only all of it is 100 %, and only nothing 0 %."""
    if not whole:
        return "0 %"
    percent = 100 * part / whole
    rounded = round(percent)
    if rounded == 0 and part:
        return "under 1 %"
    return "over 99 %" if rounded == 100 and part != whole else f"{rounded} %"


def reuse_words(verification: Verification) -> str | None:
    """That a verdict was kept from an earlier verification, and why; None: it was not."""
    if verification.reused_from is None:
        return None
    return f"kept from {verification.reused_from}: {reuse_reason(verification)}"


def reuse_reason(verification: Verification) -> str:
    """Return why an earlier verdict was kept, or why it was not."""
    return verification.reuse_reason or "no reason is stored"
