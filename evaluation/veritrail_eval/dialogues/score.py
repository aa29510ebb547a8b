"""Score a method on labelled turns: by turns, by claims, and by single categories.

A turn that did not succeed, or is undecided, has no label. It is counted, is in the column NONE,
and leaves the figures; it is never called unverifiable.

Source: VISTA 6.1, 6.2, 7, E, F.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, TypeAlias

from veritrail_eval.dialogues.claim_sets import ClaimMatcher, Overlap
from veritrail_eval.dialogues.gold import DialogueGold, LabelledTurn, TurnKey
from veritrail_eval.dialogues.predicted import PredictedTurns
from veritrail_eval.figures.bootstrap import Interval, intervals
from veritrail_eval.figures.classes import ClassCounts, Outcome
from veritrail_eval.figures.cost import ALL_CACHED, cost_anew
from veritrail_eval.figures.figure import Figure, mean, missing, share, with_reasons
from veritrail_eval.figures.mcnemar import McNemar
from veritrail_eval.figures.options import Resampling
from veritrail_eval.reporting.costs import NO_CALLS
from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.graph.model.dialogue import (
    ClaimCategory,
    DialogueLabel,
    TurnClaim,
    TurnVerification,
    vista_score,
)

LABELS = tuple(DialogueLabel)
CATEGORIES = tuple(ClaimCategory)
YES, NO = "yes", "no"
MISSING, NO_LABEL, UNRESOLVED = "missing", "no_label", "unresolved"
EXCLUDED = (
    NO_LABEL,
    UNRESOLVED,
    Status.UNDECIDED.value,
    Status.FAILED.value,
    Status.OVER_BUDGET.value,
    Status.CANCELLED.value,
    MISSING,
)
"""Why a turn is not scored, in the order in which it is looked at."""

NO_COSTS = "no turn with a known cost"
NO_CATEGORIES = "the method gives no categories"
NO_CLAIMS = "the method names no claims"
NO_VERIFIABLE = "no claim that a source could confirm, or a claim is undecided"
NO_CLAIM_FOUND = "the labelled turns make no claim"
FAITHFUL = frozenset({ClaimCategory.VERIFIED, ClaimCategory.ABSTENTION, ClaimCategory.OUT_OF_SCOPE})
"""Categories that the released program of VISTA counts as faithful."""
NO_GOLD_CLAIMS = "the labelled turns name no claims"

TurnUnit: TypeAlias = tuple[Outcome, ...]
"""The outcomes of one turn: what is drawn together when intervals are made."""


def gold_labels(gold: DialogueGold, *, consensus: bool = False) -> dict[TurnKey, DialogueLabel]:
    """The labels that turns are scored by; turns without one are not in it.

    Args:
        gold: The labelled turns.
        consensus: Whether labels follow from the claims of annotators; else the data set's own
            label counts, and only where it gives none that of the claims.
    """
    found = {
        turn.key: turn.consensus if consensus else turn.label or turn.consensus
        for turn in gold.turns
    }
    return {key: label for key, label in found.items() if label is not None}


def label_of_turn(turn: TurnVerification | None) -> DialogueLabel | None:
    """Return what a method says of a turn; None: it is not there, failed, or is undecided.

    A turn without claims is not unverifiable.

    Source: VISTA 6.1, 6.2 (out of scope and abstention are merged into unverifiable).
    """
    is_unverifiable = None if turn is None else turn.is_unverifiable
    if turn is None or is_unverifiable is None:
        return None
    if turn.label is None:  # a file of another program may leave it to its claims
        decided = [one for one in turn.claims if one.status is not Status.UNDECIDED]
        labels = map(label_of_claim, decided)
        is_unverifiable = any(one is not DialogueLabel.VERIFIED for one in labels)
        if not is_unverifiable and len(decided) < len(turn.claims):
            return None
    return DialogueLabel.UNVERIFIABLE if is_unverifiable else DialogueLabel.VERIFIED


def label_of_claim(claim: TurnClaim) -> DialogueLabel | None:
    """Return what a method says of a claim; None: it did not succeed, or is undecided."""
    if claim.status is not Status.SUCCEEDED:
        return None
    if claim.label is not None or claim.category is None:
        return claim.label
    is_verified = claim.category is ClaimCategory.VERIFIED
    return DialogueLabel.VERIFIED if is_verified else DialogueLabel.UNVERIFIABLE


@dataclass(frozen=True, slots=True)
class ClaimScore:
    """The claims of a method against those that people agreed on.

    Attributes:
        overlap: How far both name the same claims.
        labels: Verified or not, of the claims that both name.
        categories: The five categories, of the claims that both name.
        unnamed: The categories of people's claims that the method does not name.
        gives_categories: Whether the method says why claims are not verified.

    Source: VISTA 6.2 (Table 3), D.1, F.
    """

    overlap: Overlap
    labels: Sequence[TurnUnit]
    categories: Sequence[TurnUnit]
    unnamed: Sequence[ClaimCategory]
    gives_categories: bool

    @classmethod
    def of(
        cls, turns: Iterable[LabelledTurn], predicted: PredictedTurns, matcher: ClaimMatcher
    ) -> ClaimScore:
        """The score of a method on the turns whose claims people agreed on.

        A claim of a turn that failed before it named any has no answer.
        """
        overlap = Overlap()
        labels: list[TurnUnit] = []
        categories: list[TurnUnit] = []
        unnamed: list[ClaimCategory] = []
        gives_categories = predicted.gives_categories
        for turn in turns:
            known = [] if turn.claims is None else turn.claims
            found = predicted.turns.get(turn.key)
            named = [] if found is None else found.claims
            gives_categories &= all(map(_is_categorised, named))
            pairs = dict(
                matcher.pairs([(one.claim,) for one in known], [one.claim for one in named])
            )
            has_failed = not named and label_of_turn(found) is None
            if not has_failed:
                overlap += Overlap(1, len(known), len(named), len(pairs))
                unnamed += [one.category for n, one in enumerate(known) if n not in pairs]
            both = [
                (one, named[pairs[place]] if place in pairs else None)
                for place, one in enumerate(known)
                if has_failed or place in pairs
            ]
            labels.append(tuple((_merged(one.category), _label(other)) for one, other in both))
            categories.append(tuple((one.category, _category(other)) for one, other in both))
        return cls(overlap, labels, categories, unnamed, gives_categories)

    def as_json(self, how: Resampling | None = None) -> dict[str, Any]:
        """Counts and figures: over the claims that both name, and over all of people's claims.

        `with_unmatched` counts claims that are not named, and those without an answer, as wrong.
        """
        merged = [(_merged(one), None) for one in self.unnamed]
        document: dict[str, Any] = {
            "turns": self.overlap.turns,
            "claims": sum(map(len, self.labels)) + len(self.unnamed),
            "unmatched": len(self.unnamed),
            "extra": self.overlap.second - self.overlap.both,
            "sets": self.overlap.as_json(),
            "labels": _figures(LABELS, self.labels, merged, how),
            "categories": None,
        }
        if not self.gives_categories:
            return {**document, "reasons": {"categories": NO_CATEGORIES}}
        unnamed = [(one, None) for one in self.unnamed]
        return {**document, "categories": _figures(CATEGORIES, self.categories, unnamed, how)}


def _is_categorised(claim: TurnClaim) -> bool:
    return claim.category is not None or label_of_claim(claim) is not DialogueLabel.UNVERIFIABLE


def _merged(category: ClaimCategory) -> DialogueLabel:
    is_verified = category is ClaimCategory.VERIFIED
    return DialogueLabel.VERIFIED if is_verified else DialogueLabel.UNVERIFIABLE


def _label(claim: TurnClaim | None) -> str | None:
    return None if claim is None else label_of_claim(claim)


def _category(claim: TurnClaim | None) -> str | None:
    if claim is None or claim.status is not Status.SUCCEEDED:
        return None
    return claim.category


def _figures(
    classes: Sequence[str],
    units: Sequence[TurnUnit],
    unnamed: Sequence[Outcome],
    how: Resampling | None,
) -> dict[str, Any]:
    """The figures of outcomes, and their intervals, turns drawn anew."""
    outcomes = list(chain.from_iterable(units))
    document = ClassCounts.of(classes, outcomes).as_json()
    every = ClassCounts.of(classes, [*outcomes, *unnamed]).as_json()
    document["with_unmatched"] = every["with_none"]
    if how is not None:
        found = turn_intervals(classes, units, how)
        document["intervals"] = {name: one.as_json() for name, one in found.items()}
    return document


def turn_intervals(
    classes: Sequence[str], units: Sequence[TurnUnit], how: Resampling
) -> dict[str, Interval]:
    """The intervals of accuracy and macro F1 over the outcomes with an answer; turns are drawn.

    Args:
        classes: The classes.
        units: The outcomes of each turn.
        how: Number of resamples and seed.
    """

    def figures(drawn: Mapping[TurnUnit, int]) -> dict[str, Figure]:
        counts: Counter[Outcome] = Counter()
        for unit, times in drawn.items():
            for pair in unit:
                counts[pair] += times
        return ClassCounts(classes, counts).scored.figures()

    return intervals(units, figures, how)


@dataclass(frozen=True, slots=True)
class Detection:
    """The detection of turns with a claim of one category, by a method against a data set.

    Source: VISTA 7.1 (abstentions), 7.2 (contradictions, Table 5).
    """

    counts: ClassCounts

    def as_json(self) -> dict[str, Any]:
        """Accuracy, precision, recall and F1, over the turns with an answer, and the cells."""
        there = self.counts.scored
        figures = {
            "accuracy": there.accuracy,
            "precision": there.precision(YES),
            "recall": there.recall(YES),
            "f1": there.f1(YES),
        }
        cells = self.counts.as_json()["confusion"]
        document = {
            "scored": there.items,
            **{name: one.value for name, one in figures.items()},
            "confusion": cells,
        }
        return with_reasons(document, figures)


@dataclass(frozen=True, slots=True)
class TurnScore:
    """The figures of one method: a row of the table.

    Attributes:
        predicted: What the method says.
        turns: The turns of the file of labels.
        outcomes: Label and answer of each turn that has a label.
        excluded: Turns that are not scored, by reason.
        claims: The figures of claims; None: people named none, or the method names none.
    """

    predicted: PredictedTurns
    turns: Sequence[LabelledTurn]
    outcomes: Mapping[TurnKey, tuple[DialogueLabel, DialogueLabel | None]]
    excluded: Mapping[str, int]
    claims: ClaimScore | None

    @classmethod
    def of(
        cls,
        gold: DialogueGold,
        predicted: PredictedTurns,
        matcher: ClaimMatcher,
        *,
        consensus: bool = False,
    ) -> TurnScore:
        """The score of a method on labelled turns.

        Args:
            gold: The labelled turns.
            predicted: What the method says.
            matcher: Says which claims are the same.
            consensus: Whether labels follow from the claims of annotators.
        """
        labels = gold_labels(gold, consensus=consensus)
        excluded: Counter[str] = Counter()
        outcomes: dict[TurnKey, tuple[DialogueLabel, DialogueLabel | None]] = {}
        for turn in gold.turns:
            label = labels.get(turn.key)
            if label is None:
                excluded[UNRESOLVED if turn.is_unresolved else NO_LABEL] += 1
                continue
            found = predicted.turns.get(turn.key)
            answer = label_of_turn(found)
            outcomes[turn.key] = label, answer
            if answer is None:
                excluded[_why(found)] += 1
        with_claims = [turn for turn in gold.turns if turn.consensus is not None]
        is_scored = with_claims and predicted.names_claims
        claims = ClaimScore.of(with_claims, predicted, matcher) if is_scored else None
        return cls(predicted, gold.turns, outcomes, excluded, claims)

    @property
    def counts(self) -> ClassCounts:
        """The confusion matrix of turns."""
        return ClassCounts.of(LABELS, self.outcomes.values())

    @property
    def cost_per_turn(self) -> Figure:
        """US dollars for a turn that succeeded, as if no answer had come from the cache.

        Turns without a label count as well, where the method had to verify them.
        """
        done = {
            key: one for key, one in self.predicted.turns.items() if one.status is Status.SUCCEEDED
        }
        usages = [one.usage for one in done.values()]
        if not any(one.calls or one.cached_calls for one in usages):
            return missing(NO_CALLS)
        reused = self.predicted.reused
        costs = [cost_anew(one.usage, reused.get(key, Usage())) for key, one in done.items()]
        is_cached = any(one.cached_calls for one in usages)
        return mean(
            (one for one in costs if one is not None), ALL_CACHED if is_cached else NO_COSTS
        )

    def compared_with(self, second: TurnScore) -> dict[str, Any]:
        """McNemar's test of this method and another one, on the turns that both are scored on.

        Source: VISTA E (the first system minus the second one; b: only the first one is right, c:
        only the second one).
        """
        both = [
            (label, one, second.outcomes[key][1])
            for key, (label, one) in self.outcomes.items()
            if one is not None and second.outcomes[key][1] is not None
        ]
        b = sum(one is label is not other for label, one, other in both)
        c = sum(other is label is not one for label, one, other in both)
        test = McNemar(b, c, len(both), "turn")
        difference = share(b - c, len(both), "no turn is scored for both methods")
        document = {
            "first": self.predicted.method,
            "second": second.predicted.method,
            "turns": len(both),
            "difference": difference.value,
            "b": b,
            "c": c,
            "test": test.test,
            "p_value": test.p_value.value,
        }
        return with_reasons(document, {"difference": difference, "p_value": test.p_value})

    def detections(self) -> dict[str, Any]:
        """The figures of every category that the data set labels."""
        found: dict[str, Any] = {}
        for category in CATEGORIES:
            labelled = [turn for turn in self.turns if category in turn.holds]
            if labelled:
                found[category.value] = self._detection(category, labelled)
        return found

    def _detection(
        self, category: ClaimCategory, labelled: Sequence[LabelledTurn]
    ) -> dict[str, Any]:
        there: list[tuple[bool, TurnVerification]] = []
        left: list[Outcome] = []
        for turn in labelled:
            found = self.predicted.turns.get(turn.key)
            if (
                found is None
                or found.status is not Status.SUCCEEDED
                or _leaves_open(found, category)
            ):
                left.append((_word(turn.holds[category]), None))
            else:
                there.append((turn.holds[category], found))
        document: dict[str, Any] = {"turns": len(labelled)}
        claims = [claim for _, found in there for claim in found.claims]
        if self.predicted.gives_categories and all(map(_is_categorised, claims)):
            said: list[Outcome] = [
                (_word(label), _word(any(one.category is category for one in found.claims)))
                for label, found in there
            ]
            document |= Detection(ClassCounts.of((YES, NO), [*said, *left])).as_json()
        else:
            document |= {"scored": 0, "accuracy": None}
            document["reasons"] = {"accuracy": NO_CATEGORIES}
        checked = [
            (_word(label), _word(found.turn_check.contradiction))
            for label, found in there
            if found.turn_check is not None
        ]
        if checked and category is ClaimCategory.CONTRADICTED:
            document["turn_check"] = Detection(ClassCounts.of((YES, NO), checked)).as_json()
        return document

    def vista_scores(self) -> dict[str, Any]:
        """The score over the claims of the labelled turns, by both formulas.

        `score` is verified of the claims that are verified, contradicted or lack evidence;
        `released` is that of the program that the authors published: verified, abstaining and
        out-of-scope claims of all claims.

        Source: VISTA 3 (the score; it has no formula), and its released program.
        """
        found = [self.predicted.turns.get(turn.key) for turn in self.turns]
        done = [one for one in found if one is not None and one.status is Status.SUCCEEDED]
        claims = [claim for one in done for claim in one.claims]
        if not self.predicted.gives_categories or not all(map(_is_categorised, claims)):
            none = missing(NO_CATEGORIES)
            score, released = none, none
        else:
            ours = vista_score(claims)
            score = missing(NO_VERIFIABLE) if ours is None else Figure(ours)
            faithful = sum(one.category in FAITHFUL for one in claims)
            released = share(faithful, len(claims), NO_CLAIM_FOUND)
        figures = {"score": score, "released": released}
        document = {"claims": len(claims), **{name: one.value for name, one in figures.items()}}
        return with_reasons(document, figures)

    def as_json(self, how: Resampling | None = None) -> dict[str, Any]:
        """The row.

        Args:
            how: How intervals are made; None: there are none.
        """
        counts, cost = self.counts, self.cost_per_turn
        figures = counts.as_json()
        document: dict[str, Any] = {
            "method": self.predicted.method,
            "engine": self.predicted.engine,
            "model": self.predicted.model,
            "indicative": self.predicted.indicative,
            "turns": len(self.turns),
            "scored": figures.pop("scored"),
            "excluded": {name: self.excluded.get(name, 0) for name in EXCLUDED},
        }
        reasons = figures.pop("reasons", {})
        document |= figures
        if how is not None:
            units = [(pair,) for pair in self.outcomes.values() if pair[1] is not None]
            found = turn_intervals(LABELS, units, how)
            document["intervals"] = {name: one.as_json() for name, one in found.items()}
        document |= {
            "vista_score": self.vista_scores(),
            "claims": None if self.claims is None else self.claims.as_json(how),
            "holds": self.detections(),
            "cost_per_turn": cost.value,
            "usage": self.predicted.usage.json_object(),
        }
        if cost.reason is not None:
            reasons = {**reasons, "cost_per_turn": cost.reason}
        if document["claims"] is None:
            why = NO_GOLD_CLAIMS if self.predicted.names_claims else NO_CLAIMS
            reasons = {**reasons, "claims": why}
        return {**document, "reasons": reasons} if reasons else document


def comparisons_of(scores: Sequence[TurnScore]) -> list[dict[str, Any]]:
    """McNemar's test of every two methods, in their order. Source: VISTA E, Tables 8 to 11."""
    return [first.compared_with(second) for first, second in combinations(scores, 2)]


def _leaves_open(found: TurnVerification, category: ClaimCategory) -> bool:
    """Return whether only an undecided claim of a turn could be of a category."""
    is_there = any(one.category is category for one in found.claims)
    return found.is_open and not is_there


def _word(value: bool) -> str:
    return YES if value else NO


def _why(found: TurnVerification | None) -> str:
    """Return why a turn has no answer."""
    if found is None:
        return MISSING
    return found.status.value if found.status.value in EXCLUDED else Status.FAILED.value
