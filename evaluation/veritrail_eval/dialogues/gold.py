"""Dialogues with labelled turns: JSON Lines of `{"dialogue": …}` and `{"turn": …}`.

Source: VISTA 4.1 (which turns are labelled), 5 and C (claims and annotators); the file is ours.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import Field, ValidationError

from veritrail_eval.tables import line_of
from veritrail_eval.whole_file import written_whole
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, Violation, shown
from veritrail_graph.graph.exporters.process_file import json_text
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.dialogue import read_dialogue
from veritrail_graph.graph.importers.process_file.schema import named, violations_of
from veritrail_graph.graph.model.dialogue import (
    FORMAT,
    ClaimCategory,
    Dialogue,
    DialogueLabel,
    PartId,
    Speaker,
)
from veritrail_graph.graph.model.noun import Many, Noun, OneOf, PublicId, Text, is_none

MOST_FAULTS = 1_000
"""Faults that are listed."""

TurnKey: TypeAlias = tuple[str, str]
"""What tells a turn from all others: dialogue_id and turn_id."""


class LabelledTurnClaim(Noun):
    """A claim of a turn with the category that a person gave it. Source: VISTA 5."""

    claim: Text = Field(min_length=1, description="The claim.")
    category: OneOf[ClaimCategory] = Field(description="Its category.")


class TurnAnnotation(Noun):
    """One annotator's label of a turn. Source: VISTA 5, C.2."""

    annotator: Text = Field(min_length=1, description="Who.")
    label: OneOf[DialogueLabel] | None = Field(
        default=None, description="The label; null: it follows from the claims."
    )
    claims: Many[LabelledTurnClaim] | None = Field(
        default=None, description="The claims, with categories; null: not asked for."
    )
    notes: Text = Field(default="", description="What else the annotator said.")


class LabelledTurn(Noun):
    """A turn of the assistant with its label.

    Source: VISTA 4.1, 5, 7.
    """

    dialogue_id: PublicId = Field(description="The dialogue.")
    turn_id: PartId = Field(description="The turn.")
    label: OneOf[DialogueLabel] | None = Field(
        default=None, description="The label of the data set; null: it gives none."
    )
    labels: Many[TurnAnnotation] = Field(default=(), description="What the annotators said.")
    claims: Many[LabelledTurnClaim] | None = Field(
        default=None, description="The claims that annotators agreed on; null: not known."
    )
    holds: Mapping[OneOf[ClaimCategory], bool] = Field(
        default={},
        description="Of a category: whether the turn makes such a claim, where a data set labels "
        "that, such as abstentions or contradictions.",
    )
    disfluent: bool | None = Field(
        default=None,
        description="Whether a reader found its text disfluent, which explains a difference.",
        exclude_if=is_none,
    )

    @property
    def key(self) -> TurnKey:
        """Return what tells it from all other turns."""
        return self.dialogue_id, self.turn_id

    @property
    def is_unresolved(self) -> bool:
        """Return whether annotators named claims, and what they agreed on gives the turn no label.

        It does not where claims wait for a decision, nor where no claim was agreed on though an
        annotator named one that is not verified: a turn is not verified because words differ.
        """
        if self.claims is None:
            return any(one.claims is not None for one in self.labels)
        return not self.claims and any(map(finds_unverifiable, self.labels))

    @property
    def consensus(self) -> DialogueLabel | None:
        """The label that follows from the claims of the annotators; None: they are not known.

        Source: VISTA 6.1 (any claim that is not verified makes a turn unverifiable).
        """
        return None if self.claims is None or self.is_unresolved else label_of(self.claims)


def finds_unverifiable(said: TurnAnnotation) -> bool:
    """Return whether an annotator names a claim that is not verified."""
    return any(one.category is not ClaimCategory.VERIFIED for one in said.claims or ())


def label_of(claims: Sequence[LabelledTurnClaim]) -> DialogueLabel:
    """The label of a turn for benchmarks: one without claims is not unverifiable.

    Source: VISTA 6.1, 6.2 (out of scope and abstention are merged into unverifiable).
    """
    is_verified = all(one.category is ClaimCategory.VERIFIED for one in claims)
    return DialogueLabel.VERIFIED if is_verified else DialogueLabel.UNVERIFIABLE


@dataclass(frozen=True, slots=True)
class DialogueGold:
    """Dialogues with labelled turns.

    Attributes:
        dialogues: The dialogues by their ids, in their order.
        turns: The labelled turns, in their order; each is an assistant's turn of a dialogue.
    """

    dialogues: Mapping[str, Dialogue]
    turns: Sequence[LabelledTurn]

    def by_dialogue(self) -> dict[str, list[LabelledTurn]]:
        """The labelled turns of each dialogue that has some, in the order of the dialogue."""
        found: dict[str, list[LabelledTurn]] = {}
        for turn in self.turns:
            found.setdefault(turn.dialogue_id, []).append(turn)
        for name, turns in found.items():
            places = {turn.turn_id: n for n, turn in enumerate(self.dialogues[name].turns)}
            turns.sort(key=lambda one: places[one.turn_id])  # used at once
        return found


@dataclass
class _Reading:
    """The state of reading a file of dialogues."""

    path: Path
    dialogues: dict[str, Dialogue] = field(default_factory=dict)
    turns: dict[TurnKey, LabelledTurn] = field(default_factory=dict)
    places: dict[TurnKey, str] = field(default_factory=dict)
    faults: list[Violation] = field(default_factory=list)

    def wrong(self, kind: str, where: str, message: str) -> None:
        self.faults.append(Violation(kind, where, message))


def is_gold(path: Path) -> bool:
    """Return whether a file begins as one of dialogues with labelled turns."""
    if not path.is_file():
        return False
    try:
        _, first = next(iter(files.json_lines(path, strict=True)), (0, None))
    except InputError:  # a file of another kind, such as a workbook
        return False
    return isinstance(first, dict) and first.keys() in ({"dialogue"}, {"turn"})


def read_gold(path: Path) -> DialogueGold:
    """Read a file of dialogues with labelled turns, gzipped or not.

    Raises:
        InputError: It cannot be read, holds no labelled turn, or breaks rules; `violations` lists
            every one with its line.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file of dialogues with labelled turns.")
    reading = _Reading(path)
    for number, value in files.json_lines(path, strict=True):
        _take(reading, value, f"line {number}")
    roles = {
        name: {turn.turn_id: turn.role for turn in one.turns}
        for name, one in reading.dialogues.items()
    }
    for turn in reading.turns.values():
        _check(reading, turn, roles)
    if not reading.faults and not reading.turns:
        reading.wrong("no_turns", path.name, "holds no labelled turn")
    if reading.faults:
        reading.faults.sort(key=line_of)
        raise InputError(
            f"{path} breaks {counted(len(reading.faults), 'rule')} of labelled dialogues; nothing "
            "was computed.",
            reading.faults[:MOST_FAULTS],
            code="invalid_gold",
        )
    return DialogueGold(reading.dialogues, tuple(reading.turns.values()))


def _take(reading: _Reading, value: Any, where: str) -> None:
    if isinstance(value, InputError):
        message = str(value).removeprefix(f"{reading.path}, {where}: ")
        reading.wrong("not_json", where, message)
    elif not isinstance(value, dict):
        reading.wrong("wrong_type", where, "must be a JSON object")
    elif value.keys() == {"dialogue"}:
        _take_dialogue(reading, value["dialogue"], where)
    elif value.keys() == {"turn"}:
        _take_turn(reading, value["turn"], where)
    else:
        keys = ", ".join(shown(str(key)) for key in value) or "none"
        message = f'must have the one key "dialogue" or "turn"; it has {keys}'
        reading.wrong("unknown_key", where, message)


def _take_dialogue(reading: _Reading, value: Any, where: str) -> None:
    try:
        dialogue = read_dialogue(value, where)
    except InputError as error:
        reading.faults += [
            Violation(one.kind, f"{where}: {one.where}", one.message)
            for one in getattr(error, "violations", ())
        ]
        return
    if dialogue.dialogue_id is None:
        reading.wrong("missing_key", where, "a dialogue with labelled turns needs a dialogue_id")
    elif dialogue.dialogue_id in reading.dialogues:
        message = f"the dialogue {shown(dialogue.dialogue_id)} is there already; keep one"
        reading.wrong("duplicate_dialogue_id", where, message)
    else:
        reading.dialogues[dialogue.dialogue_id] = dialogue


def _take_turn(reading: _Reading, value: Any, where: str) -> None:
    place = named(where, value, "turn_id")
    try:
        turn = LabelledTurn.model_validate(value, extra="forbid")
    except ValidationError as error:
        reading.faults += violations_of(error, place, LabelledTurn)
        return
    annotators = [one.annotator for one in turn.labels]
    if len(set(annotators)) < len(annotators):
        reading.wrong("duplicate_annotator", place, "labels: an annotator is there twice")
    elif turn.key in reading.turns:
        message = f"this turn of {shown(turn.dialogue_id)} is at {reading.places[turn.key]} already"
        reading.wrong("duplicate_turn_id", place, message)
    elif turn.label is None and turn.claims is None and not turn.holds and not turn.labels:
        message = "says nothing of the turn: give label, claims, labels or holds"
        reading.wrong("no_label", place, message)
    else:
        reading.turns[turn.key] = turn
        reading.places[turn.key] = place


def _check(
    reading: _Reading, turn: LabelledTurn, roles: Mapping[str, Mapping[str, Speaker]]
) -> None:
    """See that a labelled turn is an assistant's turn of a dialogue of the file."""
    place = reading.places[turn.key]
    if turn.dialogue_id not in roles:
        message = f"dialogue_id {shown(turn.dialogue_id)} is no dialogue of the file"
        reading.wrong("unknown_dialogue", place, message)
        return
    role = roles[turn.dialogue_id].get(turn.turn_id)
    if role is None:
        message = f"turn_id {shown(turn.turn_id)} is no turn of {shown(turn.dialogue_id)}"
        reading.wrong("unknown_turn", place, message)
    elif role is not Speaker.ASSISTANT:
        message = f"turn_id {shown(turn.turn_id)} is the {role.value}'s; only the assistant's count"
        reading.wrong("not_the_assistants_turn", place, message)


def write_gold(gold: DialogueGold, path: Path) -> None:
    """Write dialogues with labelled turns; gzipped where the name ends in `.gz`.

    Raises:
        InputError: The file cannot be written; what was there before is there still.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    with written_whole(path) as draft, opened(draft, "wt", encoding="utf-8") as file:
        file.writelines(f"{json_text(line)}\n" for line in gold_lines(gold))


def gold_lines(gold: DialogueGold) -> Iterator[dict[str, Any]]:
    """The lines of the file, dialogues first; what says nothing is left out."""
    for dialogue in gold.dialogues.values():
        yield {"dialogue": {"format": FORMAT, **_said(dialogue)}}
    for turn in gold.turns:
        yield {"turn": _said(turn)}


def _said(noun: Noun) -> dict[str, Any]:
    """A noun without its defaults."""
    return noun.model_dump(mode="json", exclude_defaults=True)
