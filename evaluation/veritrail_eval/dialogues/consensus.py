"""The claims that annotators agree on, and those that wait for a decision.

A claim counts when more than half of the annotators of a turn name it, with the category that more
than half of those give it. Where a claim has no such category, the turn has no agreed claims until
it is decided. The paper votes alike, and decides by discussion. Nor has a turn agreed claims while
its claims would make it verified only because annotators worded what is not verified differently.

Source: VISTA 5 (claims are the same by text or cosine; majority vote; discussion where all
annotators differ).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from veritrail_eval.dialogues.claim_sets import ClaimMatcher
from veritrail_eval.dialogues.gold import (
    DialogueGold,
    LabelledTurn,
    LabelledTurnClaim,
    TurnAnnotation,
    TurnKey,
    finds_unverifiable,
    label_of,
)
from veritrail_eval.dialogues.sheets import LABEL_WORDS, category_of
from veritrail_eval.tables import read_table
from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.model.dialogue import ClaimCategory, DialogueLabel

DECISION_COLUMNS = ("dialogue_id", "turn_id", "claim", "label")
_VERIFIED = ClaimCategory.VERIFIED


@dataclass(frozen=True, slots=True)
class OpenClaim:
    """A claim that annotators name and label differently.

    Attributes:
        key: The turn.
        claim: The claim, in the words of the first annotator who names it.
        counts: How many annotators gave it each category.
        is_named_by_most: Whether most annotators of the turn name it; else it may be another's
            claim in other words, or count for nothing.
    """

    key: TurnKey
    claim: str
    counts: Mapping[ClaimCategory, int]
    is_named_by_most: bool = True


@dataclass(frozen=True, slots=True)
class Consensus:
    """Labelled turns with the claims that annotators agreed on.

    Attributes:
        gold: The turns.
        unresolved: Claims that wait for a decision.
        dropped: Claims that half of the annotators of their turn, or fewer, name, and that wait
            for no decision.
    """

    gold: DialogueGold
    unresolved: tuple[OpenClaim, ...]
    dropped: int

    @property
    def unresolved_turns(self) -> int:
        """Turns that have no label until claims of them are decided."""
        return len({one.key for one in self.unresolved})


def agreed_on(
    gold: DialogueGold,
    decisions: Mapping[tuple[TurnKey, str], ClaimCategory],
    matcher: ClaimMatcher | None = None,
) -> Consensus:
    """Put the agreed claims of annotators into the turns; turns without any keep their claims.

    Args:
        gold: The turns, with what annotators said.
        decisions: The categories of claims that a person decided, by turn and claim; such a claim
            counts, whoever named it.
        matcher: Says which claims are the same; None: those of equal text.
    """
    turns, unresolved, dropped = [], [], 0
    for turn in gold.turns:
        said = [one for one in turn.labels if one.claims is not None]
        if not said:
            turns.append(turn)
            continue
        claims: list[LabelledTurnClaim] = []
        still_open: list[OpenClaim] = []
        fewer: list[OpenClaim] = []
        for wordings, categories in _units(said, matcher or ClaimMatcher()):
            decided = next(
                (decisions[turn.key, one] for one in wordings if (turn.key, one) in decisions), None
            )
            counts = Counter(categories)
            found, count = counts.most_common(1)[0]
            if decided is None and 2 * len(categories) <= len(said):
                fewer.append(OpenClaim(turn.key, wordings[0], counts, is_named_by_most=False))
            elif decided is None and 2 * count <= len(categories):
                still_open.append(OpenClaim(turn.key, wordings[0], counts))
            else:
                category = found if decided is None else decided
                claims.append(LabelledTurnClaim(claim=wordings[0], category=category))
        waiting = _hidden(said, claims, fewer) if not still_open else []
        dropped += len(fewer) - len(waiting)
        still_open += waiting
        unresolved += still_open
        turns.append(turn.replace(claims=None if still_open else tuple(claims)))
    return Consensus(replace(gold, turns=tuple(turns)), tuple(unresolved), dropped)


def _hidden(
    said: Sequence[TurnAnnotation],
    claims: Sequence[LabelledTurnClaim],
    fewer: Sequence[OpenClaim],
) -> list[OpenClaim]:
    """Return the claims without which a turn would be verified only because words differ.

    They are those not verified that too few name, where no claim is agreed on, or where most
    annotators name one, though all that are agreed on are verified.
    """
    waiting = [one for one in fewer if any(kind is not _VERIFIED for kind in one.counts)]
    if not waiting or label_of(claims) is not DialogueLabel.VERIFIED:
        return []
    most = 2 * sum(map(finds_unverifiable, said)) > len(said)
    return waiting if most or not claims else []


def _units(
    said: Sequence[TurnAnnotation], matcher: ClaimMatcher
) -> list[tuple[list[str], list[ClaimCategory]]]:
    """The claims of the annotators of a turn, equal ones together, with their categories."""
    units: list[tuple[list[str], list[ClaimCategory]]] = []
    for one in said:
        claims = one.claims or ()
        pairs = matcher.pairs([words for words, _ in units], [claim.claim for claim in claims])
        same = {other: place for place, other in pairs}
        for number, claim in enumerate(claims):
            if number not in same:
                same[number] = len(units)
                units.append(([], []))
            wordings, categories = units[same[number]]
            wordings.append(claim.claim)
            categories.append(claim.category)
    return units


def annotated_claims(gold: DialogueGold) -> list[str]:
    """Return the texts of all claims that annotators name: those that a matcher needs."""
    return [one.claim for turn in gold.turns for said in turn.labels for one in said.claims or ()]


def read_turn_decisions(path: Path, gold: DialogueGold) -> dict[tuple[TurnKey, str], ClaimCategory]:
    """A table of decisions: dialogue_id, turn_id, claim, label.

    Args:
        path: CSV, TSV or JSON.
        gold: The turns, with what annotators said.

    Raises:
        InputError: Rows have faults; all are named with row and column.
    """
    table = read_table(path, DECISION_COLUMNS)
    turns: dict[TurnKey, LabelledTurn] = {turn.key: turn for turn in gold.turns}
    found: dict[tuple[TurnKey, str], ClaimCategory] = {}
    keys = []
    for row in table.rows:
        key = row.required("dialogue_id"), row.required("turn_id")
        claim, label = row.required("claim"), row.required("label")
        turn = turns.get(key)
        category = category_of(label)
        if all(key) and turn is None:
            row.fault("unknown_turn", "turn_id", f"{shown(key[1])} is no labelled turn of it")
        elif turn is not None and claim and not _names(turn, claim):
            row.fault("unknown_claim", "claim", "no annotator of the turn names this claim")
        if label and category is None:
            names = ", ".join(LABEL_WORDS.values())
            row.fault("unknown_value", "label", f"{shown(label)} is none of {names}")
        if turn is not None and claim and category is not None:
            found[key, claim] = category
            keys.append((row, (*key, claim)))
    table.refuse_repeats(keys, "claim", "claim")
    table.check()
    return found


def _names(turn: LabelledTurn, claim: str) -> bool:
    return any(claim == named.claim for one in turn.labels for named in one.claims or ())
