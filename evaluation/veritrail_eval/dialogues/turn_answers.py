"""The answers of an annotator about a turn: claims kept, edited, deleted and added.

The answers are those of the sheets. An answer is about the text that the turn had: where the turn
says something else now, the answer does not count.

Source: VISTA 5, C.2 (the interface), in our words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from pydantic import Field

from veritrail_eval.annotation.wording import alike
from veritrail_eval.dialogues.gold import LabelledTurnClaim, TurnAnnotation
from veritrail_eval.dialogues.sheets import LABEL_WORDS, Action
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.model.dialogue import ClaimCategory, PartId
from veritrail_graph.graph.model.noun import Count, Many, Noun, OneOf, Text, Time

MOST_ROWS = 200
"""Claims of a turn that are labelled on one page."""
MOST_CLAIM = 2_000
"""Characters of a claim that an annotator writes."""
MOST_NOTES = 4_000
"""Characters of the notes on a turn."""

_NEEDS_TEXT = frozenset({Action.EDIT, Action.ADD})


class ClaimAnswer(Noun):
    """An annotator's answer about one claim of a turn. Source: VISTA C.2."""

    proposed: Text | None = Field(
        default=None, description="The claim to begin with; null: the annotator adds one."
    )
    action: OneOf[Action] | None = Field(
        default=None, description="keep, edit, delete, or add; null: not answered yet."
    )
    text: Text = Field(default="", description="The edited or new claim.")
    category: OneOf[ClaimCategory] | None = Field(
        default=None, description="The label; null: not answered yet, or deleted."
    )

    @property
    def is_blank(self) -> bool:
        """Return whether it is an empty row for a new claim."""
        return self.proposed is None and not self.text.strip() and self.category is None

    @property
    def claim(self) -> str:
        """The claim as the annotator means it."""
        said = self.text if self.action in _NEEDS_TEXT else self.proposed
        return " ".join((said or "").split())


class TurnAnswer(Noun):
    """An annotator's answer about a turn on the page. Source: VISTA C.2."""

    turn_id: PartId = Field(description="The turn.")
    number: Count = Field(description="Its number in the dialogue.")
    said: Text = Field(description="A hash of its text, as the annotator read it.")
    annotator: Text = Field(min_length=1, description="Who.")
    claims: Many[ClaimAnswer] = Field(default=(), description="The claims.")
    is_empty: bool = Field(default=False, description="Whether the turn makes no claim.")
    notes: Text = Field(default="", description="What else the annotator says.")
    answered_at: Time | None = Field(default=None, description="When it was saved.")


def hash_of(text: str) -> str:
    """A hash of the text of a turn."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def annotation_of(answer: TurnAnswer) -> TurnAnnotation:
    """An answer in the form of a file of labelled turns.

    Raises:
        InputError: Something is missing or contradictory; `violations` names each claim.
    """
    faults: list[Violation] = []
    claims: dict[str, LabelledTurnClaim] = {}
    for where, row in _named(answer.claims):
        claim = _claim(where, row, faults)
        if claim is None:
            continue
        if claims.setdefault(alike(claim.claim).rstrip(". "), claim) is not claim:
            faults.append(Violation("duplicate", where, "says what another claim says already"))
    has_rows = any(not row.is_blank for row in answer.claims)
    if answer.is_empty and claims:
        message = "makes no claim, as you say, but there are claims; delete them or untick the box"
        faults.append(Violation("contradictory", "the turn", message))
    elif not has_rows and not answer.is_empty:
        message = "has no claim; add one, or say that it makes none"
        faults.append(Violation("missing", "the turn", message))
    if len(answer.notes) > MOST_NOTES:
        message = f"may have {MOST_NOTES:,} characters, and have {len(answer.notes):,}"
        faults.append(Violation("too_long", "the notes", message))
    if faults:
        raise InputError("The labels were not saved", faults, code="labels_incomplete")
    return TurnAnnotation(
        annotator=answer.annotator, claims=tuple(claims.values()), notes=answer.notes.strip()
    )


def _named(rows: Iterable[ClaimAnswer]) -> Iterable[tuple[str, ClaimAnswer]]:
    """The rows with what they are called on the page, without empty ones."""
    counts = {True: 0, False: 0}
    for row in rows:
        is_new = row.proposed is None
        counts[is_new] += 1
        if not row.is_blank:
            yield f"{'new claim' if is_new else 'claim'} {counts[is_new]}", row


def _claim(where: str, row: ClaimAnswer, faults: list[Violation]) -> LabelledTurnClaim | None:
    """The claim of a row; None: it is deleted, or has a fault."""
    if row.action is None:
        faults.append(Violation("missing", where, "has no answer: keep, edit or delete it"))
        return None
    if row.action is Action.DELETE:
        return None
    before = len(faults)
    if not row.claim:
        faults.append(Violation("missing", where, "has no text: write what the turn says"))
    elif len(row.claim) > MOST_CLAIM:
        message = f"may have {MOST_CLAIM:,} characters, and has {len(row.claim):,}"
        faults.append(Violation("too_long", where, message))
    if row.category is None:
        words = ", ".join(LABEL_WORDS.values())
        faults.append(Violation("missing_label", where, f"has no label: choose one of {words}"))
    if len(faults) > before or row.category is None:
        return None
    return LabelledTurnClaim(claim=row.claim, category=row.category)


def given_answers(fields: Mapping[str, str], proposed: int, added: int) -> tuple[ClaimAnswer, ...]:
    """The rows of a form.

    Args:
        fields: The form: `claim-N`, `do-N`, `text-N` and `label-N` of a claim to begin with, from
            1; `new-N` and `new-label-N` of one that is added.
        proposed: How many claims it began with.
        added: How many rows it has for new claims.
    """

    def category(name: str) -> ClaimCategory | None:
        value = fields.get(name, "")
        return ClaimCategory(value) if value in set(ClaimCategory) else None

    rows = []
    for number in range(1, min(proposed, MOST_ROWS) + 1):
        action = fields.get(f"do-{number}", "")
        known = (Action.KEEP, Action.EDIT, Action.DELETE)
        rows.append(
            ClaimAnswer(
                proposed=fields.get(f"claim-{number}", ""),
                action=Action(action) if action in known else None,
                text=fields.get(f"text-{number}", ""),
                category=category(f"label-{number}"),
            )
        )
    rows += [
        ClaimAnswer(
            action=Action.ADD,
            text=fields.get(f"new-{number}", ""),
            category=category(f"new-label-{number}"),
        )
        for number in range(1, min(added, MOST_ROWS) + 1)
    ]
    return tuple(rows)
