"""Kinds of disagreement about turns, as the paper counts them, and about their claims.

The paper compares the labels of data sets with what its annotators agreed on, turn by turn. It
separates missed hallucinations from opinions and abstentions that were called verifiable (Table 7).
Two of its kinds need a reader to separate them: turns that the conversation verifies, and disfluent
ones; a turn is the latter where the labelled turns say so. The kinds of claims carry the same idea
to claims that both name.

Source: VISTA D.2, Table 7; kinds of claims are ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations
from typing import Any

from veritrail_eval.dialogues.claim_sets import ClaimMatcher
from veritrail_eval.dialogues.gold import (
    DialogueGold,
    LabelledTurn,
    LabelledTurnClaim,
    TurnAnnotation,
    label_of,
)
from veritrail_eval.dialogues.predicted import PredictedTurns
from veritrail_graph.graph.model.dialogue import ClaimCategory, DialogueLabel

NO_FACTS = frozenset({ClaimCategory.OUT_OF_SCOPE, ClaimCategory.ABSTENTION})
"""Categories of claims that no document could confirm."""


class TurnKind(StrEnum):
    """A difference between two labels of a turn; the second has claims. Source: VISTA Table 7."""

    VERIFIED = "verified_by_both"
    UNVERIFIABLE = "unverifiable_for_both"
    MISSED_HALLUCINATION = "missed_hallucination"
    MISHANDLED_OPINION_OR_ABSTENTION = "mishandled_opinion_or_abstention"
    VERIFIABLE_AFTER_ALL = "verifiable_after_all"
    DISFLUENT = "disfluent"


class ClaimKind(StrEnum):
    """A kind of difference between two categories of a claim. Source: ours, after VISTA Table 7."""

    SAME = "same_category"
    MISSED_HALLUCINATION = "missed_hallucination"
    MISHANDLED_OPINION_OR_ABSTENTION = "mishandled_opinion_or_abstention"
    VERIFIABLE_AFTER_ALL = "verifiable_after_all"
    OTHER_REASON = "other_reason"
    FIRST_ALONE = "named_by_the_first_alone"
    SECOND_ALONE = "named_by_the_second_alone"


def turn_kind(
    first: DialogueLabel, second: Sequence[LabelledTurnClaim], *, disfluent: bool = False
) -> TurnKind:
    """Return how a label and the claims of the one that is held to be right differ.

    Args:
        first: The label.
        second: The claims of the one that is held to be right.
        disfluent: Whether a reader found the text of the turn disfluent.

    Source: VISTA D.2, Table 7.
    """
    is_verified = label_of(second) is DialogueLabel.VERIFIED
    if first is DialogueLabel.UNVERIFIABLE:
        if not is_verified:
            return TurnKind.UNVERIFIABLE
        return TurnKind.DISFLUENT if disfluent else TurnKind.VERIFIABLE_AFTER_ALL
    if is_verified:
        return TurnKind.VERIFIED
    wrong = {one.category for one in second} - {ClaimCategory.VERIFIED}
    if wrong <= NO_FACTS:
        return TurnKind.MISHANDLED_OPINION_OR_ABSTENTION
    return TurnKind.MISSED_HALLUCINATION


def claim_kind(first: ClaimCategory, second: ClaimCategory) -> ClaimKind:
    """Return how a category differs from the one that is held to be right."""
    if first is second:
        return ClaimKind.SAME
    if first is ClaimCategory.VERIFIED:
        return (
            ClaimKind.MISHANDLED_OPINION_OR_ABSTENTION
            if second in NO_FACTS
            else ClaimKind.MISSED_HALLUCINATION
        )
    if second is ClaimCategory.VERIFIED:
        return ClaimKind.VERIFIABLE_AFTER_ALL
    return ClaimKind.OTHER_REASON


@dataclass(frozen=True, slots=True)
class Disagreements:
    """Counts of the differences of two sides about turns, and about claims, by kind.

    Attributes:
        turns: Turns by kind.
        claims: Claims by kind; claims of turns that both took apart.

    Source: VISTA D.2.
    """

    turns: Mapping[TurnKind, int]
    claims: Mapping[ClaimKind, int]

    @property
    def differing(self) -> int:
        """Turns about which they differ."""
        return sum(self.turns.values()) - sum(
            self.turns.get(kind, 0) for kind in (TurnKind.VERIFIED, TurnKind.UNVERIFIABLE)
        )

    def json_object(self) -> dict[str, Any]:
        """Every kind with its count, 0 as well."""
        return {
            "turns": sum(self.turns.values()),
            "differing": self.differing,
            "kinds": {kind.value: self.turns.get(kind, 0) for kind in TurnKind},
            "claims": sum(self.claims.values()),
            "claim_kinds": {kind.value: self.claims.get(kind, 0) for kind in ClaimKind},
        }


@dataclass(frozen=True, slots=True)
class _Side:
    """One side's label of a turn, with the claims where it names them."""

    label: DialogueLabel
    claims: Sequence[LabelledTurnClaim] | None = None
    disfluent: bool = False


def with_data_set(gold: DialogueGold) -> Disagreements:
    """Compare the labels of a data set with the claims that annotators agreed on. Table 7."""
    return _counted(
        (
            (_Side(turn.label, disfluent=bool(turn.disfluent)), turn.claims)
            for turn in gold.turns
            if turn.label is not None and turn.claims is not None and not turn.is_unresolved
        ),
        ClaimMatcher(),
    )


def between_annotators(
    gold: DialogueGold, matcher: ClaimMatcher
) -> dict[tuple[str, str], Disagreements]:
    """Return how every annotator differs from every other one, who is held to be right."""
    pairs: dict[tuple[str, str], list[tuple[_Side, Sequence[LabelledTurnClaim]]]] = {}
    for turn in gold.turns:
        said = sorted((one for one in turn.labels if one.claims is not None), key=_name)
        for first, second in permutations(said, 2):
            own = first.claims or ()
            side = _Side(label_of(own), own, bool(turn.disfluent))
            both = side, second.claims or ()
            pairs.setdefault((first.annotator, second.annotator), []).append(both)
    return {pair: _counted(found, matcher) for pair, found in sorted(pairs.items())}


def with_method(
    predicted: PredictedTurns, gold: DialogueGold, matcher: ClaimMatcher
) -> Disagreements:
    """Return how a method differs from people: from their agreed claims, by turn and by claim.

    Turns that the method did not reach, or failed at, and claims to which it gave no category are
    left out.
    """
    sides = ((_of_method(predicted, turn), turn.claims) for turn in gold.turns)
    return _counted(
        ((side, claims) for side, claims in sides if side is not None and claims is not None),
        matcher,
    )


def disagreements_json(
    gold: DialogueGold, predicted: Sequence[PredictedTurns], matcher: ClaimMatcher
) -> dict[str, Any]:
    """Say who differs from whom, by kind: the data set and each method from people, and annotators.

    `data_set` is null where no turn has both a label of the data set and claims of people.
    """
    data_set = with_data_set(gold)
    methods = {one.method: with_method(one, gold, matcher) for one in predicted}
    pairs = between_annotators(gold, matcher)
    return {
        "data_set": data_set.json_object() if data_set.turns else None,
        "methods": {name: one.json_object() for name, one in methods.items() if one.turns},
        "annotators": {"|".join(pair): one.json_object() for pair, one in pairs.items()},
    }


def _of_method(predicted: PredictedTurns, turn: LabelledTurn) -> _Side | None:
    found = predicted.turns.get(turn.key)
    if found is None or found.is_unverifiable is None:
        return None
    label = DialogueLabel.UNVERIFIABLE if found.is_unverifiable else DialogueLabel.VERIFIED
    if not (predicted.names_claims and predicted.gives_categories):
        return _Side(label, None, bool(turn.disfluent))
    claims = [
        LabelledTurnClaim(claim=one.claim, category=one.category)
        for one in found.claims
        if one.category is not None
    ]
    return _Side(label, claims, bool(turn.disfluent))


def _name(annotation: TurnAnnotation) -> str:
    return annotation.annotator


def _counted(
    pairs: Iterable[tuple[_Side, Sequence[LabelledTurnClaim]]], matcher: ClaimMatcher
) -> Disagreements:
    turns: Counter[TurnKind] = Counter()
    claims: Counter[ClaimKind] = Counter()
    for first, second in pairs:
        turns[turn_kind(first.label, second, disfluent=first.disfluent)] += 1
        if first.claims is None:
            continue
        same = matcher.pairs([(one.claim,) for one in first.claims], [one.claim for one in second])
        for place, other in same:
            claims[claim_kind(first.claims[place].category, second[other].category)] += 1
        claims[ClaimKind.FIRST_ALONE] += len(first.claims) - len(same)
        claims[ClaimKind.SECOND_ALONE] += len(second) - len(same)
    return Disagreements(turns, claims)
