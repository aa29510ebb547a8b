"""Figures of a judge on labelled pairs: shares, balanced accuracy, intervals.

A pair whose verification failed has no verdict: it is counted and is neither right nor wrong.
An inconclusive verdict is counted and left out of balanced accuracy; beside it stands the figure
in which it counts as wrong. A pair that the judge could not decide is counted apart: the share that
it decides stands beside how often it is right where it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any

from veritrail_eval.judge_check.pairs import LABELS, Pair
from veritrail_graph.graph.agreement import wilson_interval
from veritrail_graph.graph.model import Status, Verdict, Verification

Interval = tuple[float, float]
_SUPPORTED, _UNSUPPORTED = LABELS
_COIN = 0.5


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair, and the verification of its claim."""

    pair: Pair
    verification: Verification

    @property
    def verdict(self) -> Verdict | None:
        """The verdict; None: there is none."""
        return self.verification.verdict

    @property
    def is_right(self) -> bool | None:
        """Say whether the verdict is the label; None where there is none, or it is inconclusive."""
        if self.verdict not in LABELS:
            return None
        return self.verdict is self.pair.label


@dataclass(frozen=True, slots=True)
class OfLabel:
    """The verdicts on the pairs of one label.

    Attributes:
        label: The label.
        pairs: How many pairs there are.
        right: How many got their label as verdict.
        wrong: How many got the other one.
        inconclusive: How many are inconclusive.
        undecided: How many the judge could not decide.
    """

    label: Verdict
    pairs: int
    right: int
    wrong: int
    inconclusive: int
    undecided: int

    @classmethod
    def of(cls, judged: Sequence[Judged], label: Verdict) -> OfLabel:
        """Count the pairs of a label."""
        own = [one for one in judged if one.pair.label is label]
        return cls(
            label,
            len(own),
            sum(one.is_right is True for one in own),
            sum(one.is_right is False for one in own),
            sum(one.verdict is Verdict.INCONCLUSIVE for one in own),
            sum(one.verification.status is Status.UNDECIDED for one in own),
        )

    @property
    def scored(self) -> int:
        """Pairs with a verdict that is right or wrong."""
        return self.right + self.wrong

    @property
    def answered(self) -> int:
        """Pairs that the judge gave an answer on: any verdict, or that it cannot tell."""
        return self.scored + self.inconclusive + self.undecided

    @property
    def recall(self) -> float | None:
        """The share of right verdicts among those scored; None: there are none."""
        return self.right / self.scored if self.scored else None

    @property
    def interval(self) -> Interval | None:
        """Return where the recall lies with 95 % certainty."""
        return wilson_interval(self.right, self.scored)


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of some pairs.

    Attributes:
        supported: Of the pairs labelled Fully Supported.
        unsupported: Of the pairs labelled Not Fully Supported.
    """

    supported: OfLabel
    unsupported: OfLabel

    @classmethod
    def of(cls, judged: Sequence[Judged]) -> Figures:
        """The figures of these pairs."""
        return cls(OfLabel.of(judged, _SUPPORTED), OfLabel.of(judged, _UNSUPPORTED))

    @property
    def pairs(self) -> int:
        """Return how many pairs there are."""
        return self.supported.pairs + self.unsupported.pairs

    @property
    def scored(self) -> int:
        """Return how many have a verdict that is right or wrong."""
        return self.supported.scored + self.unsupported.scored

    @property
    def inconclusive(self) -> int:
        """Return how many have a verdict that is neither."""
        return self.supported.inconclusive + self.unsupported.inconclusive

    @property
    def undecided(self) -> int:
        """Return how many the judge could not decide."""
        return self.supported.undecided + self.unsupported.undecided

    @property
    def no_verdict(self) -> int:
        """Return how many have none for another reason: a fault, a limit, an end before time."""
        return self.pairs - self.scored - self.inconclusive - self.undecided

    @property
    def decided(self) -> float | None:
        """The share of answered pairs with a verdict that is right or wrong; None without any."""
        answered = self.supported.answered + self.unsupported.answered
        return self.scored / answered if answered else None

    def given(self, label: Verdict) -> tuple[int, int]:
        """Return how often a verdict was given, and how often it was right."""
        own, other = self.supported, self.unsupported
        if label is not _SUPPORTED:
            own, other = other, own
        return own.right + other.wrong, own.right

    def precision(self, label: Verdict) -> float | None:
        """Return how often a verdict is right where it is given; None: it never is."""
        given, right = self.given(label)
        return right / given if given else None

    @property
    def balanced_accuracy(self) -> float | None:
        """The mean recall of both labels; None where one of them has no scored pair."""
        first, second = self.supported.recall, self.unsupported.recall
        return None if first is None or second is None else (first + second) / 2

    @property
    def inconclusive_wrong(self) -> float | None:
        """Balanced accuracy where an inconclusive verdict counts as wrong."""
        parts = (self.supported, self.unsupported)
        if not all(one.answered for one in parts):
            return None
        return sum(one.right / one.answered for one in parts) / 2

    @property
    def interval(self) -> Interval | None:
        """Return where balanced accuracy lies with 95 % certainty; None where it is not defined.

        Square-and-add of the Wilson intervals of both recalls (R. G. Newcombe's method for two
        independent shares): it stays within 0 and 1, and has a width also where no pair is wrong.
        """
        middle = self.balanced_accuracy
        first, second = self.supported, self.unsupported
        if middle is None or first.interval is None or second.interval is None:
            return None
        a, b = first.recall or 0.0, second.recall or 0.0
        below = hypot(a - first.interval[0], b - second.interval[0]) / 2
        above = hypot(first.interval[1] - a, second.interval[1] - b) / 2
        return max(0.0, middle - below), min(1.0, middle + above)

    @property
    def reason(self) -> str | None:
        """Return why there is no balanced accuracy; None: there is one."""
        for one in (self.supported, self.unsupported):
            if not one.pairs:
                return f"no pair is labelled {one.label}"
            if not one.scored:
                return f"no pair labelled {one.label} has a verdict that is right or wrong"
        return None

    def json_object(self) -> dict[str, Any]:
        """The figures as JSON; one that is not defined is null, with the reason."""
        parts = (self.supported, self.unsupported)
        return {
            "pairs": self.pairs,
            "scored": self.scored,
            "excluded": {
                "inconclusive": self.inconclusive,
                "undecided": self.undecided,
                "no_verdict": self.no_verdict,
            },
            "decided": self.decided,
            "verdicts": {label.value: self._verdict_object(label) for label in LABELS},
            "balanced_accuracy": self.balanced_accuracy,
            "interval": _listed(self.interval),
            "balanced_accuracy_inconclusive_wrong": self.inconclusive_wrong,
            "recall": {one.label.value: one.recall for one in parts},
            "recall_intervals": {one.label.value: _listed(one.interval) for one in parts},
            "labels": {
                one.label.value: {
                    "pairs": one.pairs,
                    "right": one.right,
                    "wrong": one.wrong,
                    "inconclusive": one.inconclusive,
                    "undecided": one.undecided,
                }
                for one in parts
            },
            "reasons": {} if self.reason is None else {"balanced_accuracy": self.reason},
        }

    def _verdict_object(self, label: Verdict) -> dict[str, Any]:
        given, right = self.given(label)
        return {
            "given": given,
            "right": right,
            "precision": self.precision(label),
            "interval": _listed(wilson_interval(right, given)),
        }


def by_kind(judged: Iterable[Judged]) -> dict[str, Figures]:
    """The figures of each kind, in the order in which kinds appear."""
    groups: dict[str, list[Judged]] = {}
    for one in judged:
        groups.setdefault(one.pair.kind, []).append(one)
    return {kind: Figures.of(some) for kind, some in groups.items()}


def without_verdict(judged: Iterable[Judged]) -> dict[str, int]:
    """Return how many pairs ended without a verdict, by status."""
    counts: dict[str, int] = {}
    for one in judged:
        if not one.verification.status.is_result:
            name = one.verification.status.value
            counts[name] = counts.get(name, 0) + 1
    return counts


def meaning(figures: Figures) -> str | None:
    """Return what the figures mean for a user, in one sentence; None: there are none.

    Shares are of all pairs that the judge answered, inconclusive and undecided ones included, so
    that a judge that decides seldom does not look better than it is.
    """
    missed, flagged = figures.unsupported, figures.supported
    parts = []
    if missed.answered:
        parts.append(
            f"of 100 unsupported claims it would let {_about(missed.wrong, missed.answered)} pass"
        )
    if flagged.answered:
        parts.append(
            f"of 100 supported claims it would flag {_about(flagged.wrong, flagged.answered)} "
            "wrongly"
        )
    if not parts:
        return None
    answered = missed.answered + flagged.answered
    open_ones = figures.inconclusive + figures.undecided
    if open_ones:
        parts.append(f"of 100 claims it would leave {_about(open_ones, answered)} open")
    text = ", and ".join(parts) if len(parts) < 3 else f"{', '.join(parts[:2])}, and {parts[2]}"
    interval = figures.interval
    if interval is not None and interval[0] <= _COIN <= interval[1]:
        text += "; these pairs do not tell it from a coin"
    elif interval is not None and interval[1] < _COIN:
        text += "; it is wrong more often than a coin"
    return f"{text[0].upper()}{text[1:]}."


def reliability(figures: Figures) -> str | None:
    """Return how often each verdict is right where it is given, and the share that is decided.

    None: no pair was answered.
    """
    share = figures.decided
    if share is None:
        return None
    answered = figures.supported.answered + figures.unsupported.answered
    parts = []
    for label in LABELS:
        given, right = figures.given(label)
        name = label.value.replace("_", " ").title()
        if given:
            of = f"{_about(right, given)} ({right:,} of {given:,})"
            parts.append(f"of 100 times that it says {name}, it is right {of}")
        else:
            parts.append(f"it never says {name}")
    decided = f"It decides {figures.scored:,} of {answered:,} pairs ({100 * share:.0f} %)"
    return f"{decided}; {'; '.join(parts)}."


def _about(count: int, of: int) -> str:
    """A share as a number of 100, with its interval."""
    interval = wilson_interval(count, of) or (0.0, 1.0)
    low, high = (round(100 * edge) for edge in interval)
    return f"about {round(100 * count / of)} ({low} to {high})"


def _listed(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)
