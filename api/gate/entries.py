"""A claim as the gate counts it, whether it was read now or stands in a baseline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum

from veritrail_graph.api.reports.material import CheckedClaim, Material, State, state_of
from veritrail_graph.graph.model import Status

AGAIN = "its latest check {ended}; the verdict is older"
EDITED = "its text was changed after it was verified"
NEVER = "it was never verified"
WAITS = "its verification has not ended"

_ENDED = {
    Status.FAILED: "failed",
    Status.OVER_BUDGET: "went over budget",
    Status.CANCELLED: "was cancelled",
}

ALIKE = 0.6
"""Share of words that two wordings of one claim have in common at least."""

MOST_WORDS = 200
"""Words of a claim that are compared."""


class Change(StrEnum):
    """What became of a claim since the baseline."""

    REGRESSED = "regressed"
    NEW = "new"
    KNOWN = "known"
    FIXED = "fixed"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Entry:
    """A claim, and how it stands.

    Attributes:
        claim_id: Its id.
        text: What it says.
        state: How it stands.
        error_stages: Where unsupported content came in; empty where no stage is known.
        reason: Why it stands so, or None.
        indicative: Whether no model judged.
        change: What became of it since the baseline; None: there is no baseline.
    """

    claim_id: str
    text: str
    state: State
    error_stages: tuple[int, ...] = ()
    reason: str | None = None
    indicative: bool = False
    change: Change | None = None


def counted(material: Material) -> Material:
    """The material as a gate counts it.

    An edited claim has not been checked as it reads now, and one whose latest check gave no
    verdict could not be checked, whatever was found before.
    """
    claims = tuple(
        replace(one, verification=None) if one.was_edited else one
        for one in map(_latest, material.claims)
    )
    return replace(material, claims=claims)


def failed_again(one: CheckedClaim) -> bool:
    """Whether a claim has a verdict, and a later check that ended without one."""
    return one.later is not None and one.verdict is not None and state_of(one.later) is State.FAILED


def _latest(one: CheckedClaim) -> CheckedClaim:
    """The claim with its latest check, where that ended without a verdict."""
    if one.later is None or not failed_again(one):
        return one
    reason = AGAIN.format(ended=_ENDED.get(one.later.status, "failed"))
    if one.later.failure:
        reason = f"{reason}: {one.later.failure}"
    return replace(one, verification=replace(one.later, failure=reason), later=None)


def entries_of(material: Material) -> tuple[Entry, ...]:
    """The claims of a process as entries, in its order."""
    return tuple(_entry(_latest(one)) for one in material.claims)


def _entry(one: CheckedClaim) -> Entry:
    if one.was_edited:
        return Entry(one.claim.claim_id, one.claim.text, State.UNCHECKED, reason=EDITED)
    reason = one.reason
    if one.state is State.UNCHECKED:
        reason = NEVER if one.verification is None else WAITS
    return Entry(
        claim_id=one.claim.claim_id,
        text=one.claim.text,
        state=one.state,
        error_stages=one.error_stages,
        reason=reason,
        indicative=one.is_indicative,
    )


def same_text(text: str) -> str:
    """What two spellings of one claim have in common: the text without its line breaks."""
    return " ".join(text.split())


def match(now: Iterable[Entry], before: Iterable[Entry]) -> dict[int, Entry]:
    """The entry of the baseline for each claim that has one, by the claim's place.

    A claim is the same when id and text are; else when the text is, as ids are often counted up
    anew; else when the id is and the texts are alike, as wordings are mended. No entry is taken
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
    """Whether the words are mostly the same: an id that was counted up says nothing by itself."""
    return SequenceMatcher(None, _words(one), _words(other), autojunk=False).ratio() >= ALIKE


def _words(one: Entry) -> list[str]:
    return one.text.lower().split()[:MOST_WORDS]
