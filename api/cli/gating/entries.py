"""The claims of a process as a gate counts them, matched with those of a baseline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from enum import StrEnum

from veritrail_graph.api.show.reports.data import ReportData, ReportedClaim
from veritrail_graph.api.show.words import State, judged_by, mark_now
from veritrail_graph.graph.model import Reviewed, ReviewKind, Status, Verification

AGAIN = "its latest check by {judge} {ended}; what is in force is of another check"
EDITED = "its text was changed after it was verified"
NEVER = "it was never verified"
WAITS = "its verification has not ended"
OF_TURN = "checked by turn: {}"

_ENDED = {
    Status.FAILED: "failed",
    Status.OVER_BUDGET: "went over budget",
    Status.CANCELLED: "was cancelled",
}

ALIKE = 0.6
"""Share of words that two wordings of one claim have in common at least."""

MOST_WORDS = 200
"""Words of a claim that are compared."""


class BaselineChange(StrEnum):
    """The change of a claim since the baseline."""

    REGRESSED = "regressed"
    NEW = "new"
    KNOWN = "known"
    FIXED = "fixed"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Entry:
    """A claim and its state.

    Attributes:
        claim_id: Its id.
        text: What it says.
        state: Its state.
        error_stages: Where unsupported content came in; empty where no stage is known.
        reason: Why it has this state, or None.
        indicative: Whether no model judged, verdict or not.
        of_turn: Whether it was checked as a claim of a dialogue's turn alone, without a verdict.
        change: What became of it since the baseline; None: there is no baseline.
        again: What became of its latest check, where that ended without a verdict and another one
            is in force; None: nothing is left to make good.
        judged: The verification that the state is of, without its trail; None: there is none.
        reviewed: What people said of the claim, which no rule counts; None: nothing.
    """

    claim_id: str
    text: str
    state: State
    error_stages: tuple[int, ...] = ()
    reason: str | None = None
    indicative: bool = False
    of_turn: bool = False
    change: BaselineChange | None = None
    again: str | None = None
    judged: Verification | None = field(default=None, compare=False)
    reviewed: Reviewed | None = field(default=None, compare=False)

    @property
    def is_failed(self) -> bool:
        """Return whether it could not be checked, even where another result is in force."""
        return self.state is State.FAILED or self.again is not None

    @property
    def is_overridden(self) -> bool:
        """Return whether the latest review of the claim differs from the verdict that counts."""
        is_judged = self.judged is not None and self.judged.verdict is not None
        overridden = ReviewKind.OVERRIDDEN
        return is_judged and self.reviewed is not None and self.reviewed.kind is overridden


def failed_again(one: ReportedClaim) -> bool:
    """Return whether a claim has a result, and a check that failed and was not made good since."""
    has_result = one.verdict is not None or one.state is State.UNDECIDED
    return has_result and one.later is not None and mark_now(one.later).kind is State.FAILED


def _again(one: ReportedClaim) -> str | None:
    """Return what became of a check that failed, of a claim that has a result of another check."""
    if one.later is None or not failed_again(one):
        return None
    judge = judged_by(one.later.engine, one.later.model)
    reason = AGAIN.format(judge=judge, ended=_ENDED.get(one.later.status, "failed"))
    return f"{reason}: {one.later.error}" if one.later.error else reason


def entries_of(material: ReportData) -> tuple[Entry, ...]:
    """The claims of a process as entries, in its order."""
    return tuple(map(_entry, material.claims))


def _entry(one: ReportedClaim) -> Entry:
    if one.was_edited:
        edited = Entry(one.claim.claim_id, one.claim.text, State.UNCHECKED, reason=EDITED)
        return replace(edited, reviewed=one.reviewed)
    reason = one.reason
    if one.state is State.UNCHECKED:
        reason = NEVER if one.verification is None else WAITS
        reason = OF_TURN.format(one.mark.word) if one.is_of_turn else reason
    return Entry(
        claim_id=one.claim.claim_id,
        text=one.claim.text,
        state=one.state,
        error_stages=one.error_stages,
        reason=reason,
        indicative=one.is_without_model,
        of_turn=one.is_of_turn,
        again=_again(one),
        judged=one.verification,
        reviewed=one.reviewed,
    )


def same_text(text: str) -> str:
    """Return what two spellings of one claim have in common: the text without its line breaks."""
    return " ".join(text.split())


def match(now: Iterable[Entry], before: Iterable[Entry]) -> dict[int, Entry]:
    """The entry of the baseline for each claim that has one, by the claim's place.

    A claim is the same when id and text are; else when the text is, as ids are often counted up
    anew; else when the id is and the texts are alike, as wordings get corrected. No entry is taken
    twice.
    """
    waiting = dict(enumerate(now))
    left = list(before)
    found: dict[int, Entry] = {}
    for key, is_same in ((_by_both, _always), (_by_text, _always), (_by_id, _are_alike)):
        known: dict[object, list[int]] = {}
        for place, one in enumerate(left):
            known.setdefault(key(one), []).append(place)
        taken = set()
        for place, one in list(waiting.items()):
            places = known.get(key(one))
            if places and is_same(one, left[places[0]]):
                taken.add(places[0])
                found[place] = left[places.pop(0)]
                del waiting[place]
        left = [one for place, one in enumerate(left) if place not in taken]
    return found


def _by_both(one: Entry) -> object:
    return one.claim_id, same_text(one.text)


def _by_text(one: Entry) -> object:
    return same_text(one.text)


def _by_id(one: Entry) -> object:
    return one.claim_id


def _always(_one: Entry, _other: Entry) -> bool:
    return True


def _are_alike(one: Entry, other: Entry) -> bool:
    """Say whether the words are mostly the same: an id that was counted up alone proves nothing."""
    return SequenceMatcher(None, _words(one), _words(other), autojunk=False).ratio() >= ALIKE


def _words(one: Entry) -> list[str]:
    return one.text.lower().split()[:MOST_WORDS]
