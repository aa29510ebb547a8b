"""How a claim stands, in one of five marks: three verdicts, a failure, and no check at all.

A mark is a word and an icon together; colour only repeats what they say. A claim that could not
be checked is never shown as unsupported.

Source: VeriTrail 2 (the three verdicts); docs/page.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Protocol

from veritrail_graph.graph.model import ReviewVerdict, Status, Verdict

INDICATIVE = "No model judged: the verdict is indicative."

LONGEST_REASON = 300
"""Characters of the reason of a failure that stand beside its mark."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How a claim, or one of its verifications, stands.

    Attributes:
        kind: `supported`, `not-supported`, `inconclusive`, `failed` or `unchecked`; its class in
            the style sheet is `mark-KIND`.
        word: What it is called.
        icon: Name of its icon.
        hint: What it means, in a sentence; of a failure also the reason.
        indicative: Whether no model judged.
    """

    kind: str
    word: str
    icon: str
    hint: str
    indicative: bool = False

    @property
    def is_verdict(self) -> bool:
        """Whether it is a verdict."""
        return self.kind in _OF_VERDICT_KIND


SUPPORTED = Mark(
    "supported",
    "Fully supported",
    "supported",
    "The sources support everything that the claim says.",
)
NOT_SUPPORTED = Mark(
    "not-supported",
    "Not fully supported",
    "not-supported",
    "The sources do not support all of what the claim says.",
)
INCONCLUSIVE = Mark(
    "inconclusive",
    "Inconclusive",
    "inconclusive",
    "What was found allows no decision for or against the claim.",
)
FAILED = Mark(
    "failed",
    "Could not be checked",
    "failed",
    "The check did not come to an end. This says nothing about the claim.",
)
UNCHECKED = Mark("unchecked", "Not checked", "unchecked", "Nobody has checked this claim yet.")

MARKS: tuple[Mark, ...] = (NOT_SUPPORTED, INCONCLUSIVE, FAILED, UNCHECKED, SUPPORTED)
"""All marks, what needs attention first."""

BY_KIND: Mapping[str, Mark] = MappingProxyType({mark.kind: mark for mark in MARKS})
"""The marks by their kind."""

RANK: Mapping[str, int] = MappingProxyType({mark.kind: place for place, mark in enumerate(MARKS)})
"""By kind: its place among those that need attention; 0 comes first."""

_OF_VERDICT: Mapping[Verdict, Mark] = MappingProxyType(
    {
        Verdict.FULLY_SUPPORTED: SUPPORTED,
        Verdict.NOT_FULLY_SUPPORTED: NOT_SUPPORTED,
        Verdict.INCONCLUSIVE: INCONCLUSIVE,
    }
)
_OF_VERDICT_KIND = frozenset(mark.kind for mark in _OF_VERDICT.values())
VERDICT_OF: Mapping[str, Verdict] = MappingProxyType(
    {mark.kind: verdict for verdict, mark in _OF_VERDICT.items()}
)
"""The verdict that a kind stands for; failed and unchecked stand for none."""

_WITHOUT_VERDICT: Mapping[Status, Mark] = MappingProxyType(
    {
        Status.QUEUED: replace(UNCHECKED, word="Waiting", hint="Its check has not begun yet."),
        Status.RUNNING: replace(UNCHECKED, word="Being checked", hint="Its check is under way."),
        Status.FAILED: FAILED,
        Status.OVER_BUDGET: replace(
            FAILED,
            word="Over budget",
            hint="The budget was spent before the check came to an end. This says nothing about "
            "the claim.",
        ),
        Status.CANCELLED: replace(
            FAILED,
            word="Cancelled",
            hint="The check was cancelled before it came to an end. This says nothing about the "
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
        status: Without a verdict: how the latest verification stands; None: there is none.
        failure: Why there is no verdict.
        indicative: Whether no model judged.
    """
    if verdict is not None:
        mark = _OF_VERDICT[verdict]
        if indicative:
            return replace(mark, hint=f"{mark.hint} {INDICATIVE}", indicative=True)
        return mark
    mark = UNCHECKED if status is None else _WITHOUT_VERDICT.get(status, UNCHECKED)
    if mark.kind == FAILED.kind and failure:
        return replace(mark, hint=f"{mark.hint} Reason: {in_short(failure)}")
    return mark


class _Judged(Protocol):
    """A claim as it stands now, or one of its verifications."""

    @property
    def verdict(self) -> Verdict | None: ...
    @property
    def status(self) -> Status | None: ...
    @property
    def failure(self) -> str | None: ...
    @property
    def indicative(self) -> bool | None: ...


def mark_now(found: _Judged) -> Mark:
    """The mark of a claim, or of one of its verifications, as it stands now."""
    return mark_of(found.verdict, found.status, found.failure, indicative=found.indicative)


def in_short(failure: str) -> str:
    """The reason of a failure, cut where it is long."""
    return failure if len(failure) <= LONGEST_REASON else f"{failure[:LONGEST_REASON]}…"


def said_mark(said: ReviewVerdict | None) -> Mark:
    """The mark of what a person said; `Unclear` where the claim itself was called so."""
    if said is None:
        return UNCHECKED
    if said is ReviewVerdict.UNCLEAR:
        return Mark("inconclusive", "Unclear", "unclear", "The claim itself is unclear.")
    return _OF_VERDICT[Verdict(said.value)]
