"""The base of loaders of dialogues: lines become turns and documents, labels become gold.

A loader asks for rows in a model, adds dialogues with what is known of their turns, and finishes.
Every dialogue is held against the rules of a dialogue file.

Source: ours (docs/datasets.md).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from veritrail_eval.datasets.loaders.building import public_id
from veritrail_eval.datasets.loaders.rows import RowReading
from veritrail_eval.dialogues.gold import (
    DialogueGold,
    LabelledTurn,
    LabelledTurnClaim,
    TurnKey,
)
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.dialogue import read_dialogue
from veritrail_graph.graph.model.dialogue import (
    FORMAT,
    ClaimCategory,
    Dialogue,
    DialogueLabel,
    Speaker,
)

SAMPLE = 250
"""How many dialogues of a class are drawn where a data set has more. Source: VISTA 7.1, 7.2."""

Drawn = TypeVar("Drawn")


@dataclass(frozen=True, slots=True)
class Said:
    """A turn as a loader reads it: its text, and what the data set knows of it.

    Attributes:
        text: What is said.
        is_assistant: Whether the assistant says it.
        documents: Texts that the turn is compared with.
        label: The label of the data set.
        claims: The claims that annotators agreed on; None: not known.
        holds: Whether the turn makes a claim of a category, where that is labelled.
        metadata: What else is known.
    """

    text: str
    is_assistant: bool
    documents: Sequence[str] = ()
    label: DialogueLabel | None = None
    claims: Sequence[LabelledTurnClaim] | None = None
    holds: Mapping[ClaimCategory, bool] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_labelled(self) -> bool:
        """Return whether the data set says anything of it."""
        return self.label is not None or self.claims is not None or bool(self.holds)


@dataclass(frozen=True, slots=True)
class DialogueSet:
    """A data set of dialogues with labelled turns.

    Attributes:
        name: Its name.
        gold: The dialogues, and the labels of their turns.
        description: What it holds.
        licence: Under which licence it is published.
        remarks: What was left out, or read in another way, a line each.
    """

    name: str
    gold: DialogueGold
    description: str
    licence: str
    remarks: tuple[str, ...] = ()


class DialogueBuilding(RowReading):
    """A data set of dialogues while it is read.

    Args:
        path: What is read.
        format_name: Name of the loader.
        skip_bad: Whether rows that break rules are left out and counted.
    """

    def __init__(self, path: Path, format_name: str, *, skip_bad: bool) -> None:
        super().__init__(path, format_name, skip_bad=skip_bad)
        self._dialogues: dict[str, Dialogue] = {}
        self._turns: dict[TurnKey, LabelledTurn] = {}
        self._places: dict[str, str] = {}

    def dialogue(self, key: str, said: Sequence[Said], where: str) -> None:
        """Add a dialogue with its labelled turns; a fault where it breaks rules.

        Turns without a word are left out and counted. Equal texts are one document.

        Args:
            key: What tells it from the others.
            said: Its turns, in their order.
            where: Its place.
        """
        dialogue_id = public_id(key)
        if dialogue_id in self._dialogues:
            message = f"is the dialogue {dialogue_id!r} again, as {self._places[dialogue_id]} is"
            self.fault(where, "", message, "duplicate_dialogue_id")
            return
        spoken = [one for one in said if one.text.strip()]
        if len(spoken) < len(said):
            self.count("turn without a word: left out", len(said) - len(spoken))
        if not any(one.is_labelled for one in spoken):
            self.fault(where, "", "no turn with a word has a label", "no_label")
            return
        texts = list(dict.fromkeys(text for one in spoken for text in one.documents if text))
        names = {text: f"d{number}" for number, text in enumerate(texts, 1)}
        value = {
            "format": FORMAT,
            "dialogue_id": dialogue_id,
            "documents": [{"document_id": name, "text": text} for text, name in names.items()],
            "turns": [
                {
                    "turn_id": f"t{number}",
                    "role": (Speaker.ASSISTANT if one.is_assistant else Speaker.USER).value,
                    "text": one.text,
                    "documents": [names[text] for text in one.documents if text],
                    "metadata": dict(one.metadata),
                }
                for number, one in enumerate(spoken, 1)
            ],
        }
        try:
            self._dialogues[dialogue_id] = read_dialogue(value, where)
        except InputError as error:
            for fault in error.violations:
                self.fault(where, fault.where, fault.message, fault.kind)
            return
        self._places[dialogue_id] = where
        for number, one in enumerate(spoken, 1):
            if one.is_labelled:
                turn = LabelledTurn(
                    dialogue_id=dialogue_id,
                    turn_id=f"t{number}",
                    label=one.label,
                    claims=None if one.claims is None else tuple(one.claims),
                    holds=dict(one.holds),
                )
                self._turns[turn.key] = turn

    def has(self, key: str) -> bool:
        """Return whether there is a dialogue of this key."""
        return public_id(key) in self._dialogues

    def sample(self, rows: Sequence[Drawn], what: str) -> list[Drawn]:
        """As many rows as the paper drew, in their order, the same in every call.

        Args:
            rows: The rows of a class that can be used.
            what: What they are, in words; the draw follows from it.
        """
        if len(rows) <= SAMPLE:
            self.count(f"{what}: all of them are taken, {SAMPLE} were asked for", len(rows))
            return list(rows)
        draw = random.Random(what)  # noqa: S311  # a sample, not a secret
        kept = sorted(draw.sample(range(len(rows)), SAMPLE))
        self.count(f"{what}: not drawn, {SAMPLE} of {len(rows):,} were", len(rows) - SAMPLE)
        return [rows[place] for place in kept]

    def finish(self, name: str, *, description: str, licence: str) -> DialogueSet:
        """The data set.

        Args:
            name: Its name.
            description: What it holds.
            licence: Under which licence it is published.

        Raises:
            InputError: There are faults that are not left out, or no turn has a label.
        """
        self.refuse_faults()
        remarks = self.remarks()
        if not self._turns:
            first = f" {remarks[0]}" if remarks else ""
            raise InputError(f"{self._path} holds no labelled turn that can be used.{first}")
        gold = DialogueGold(self._dialogues, tuple(self._turns.values()))
        return DialogueSet(name, gold, description, licence, tuple(remarks))


def label_of_support(*, is_supported: bool) -> DialogueLabel:
    """The label of a turn that is wholly supported, or is not."""
    return DialogueLabel.VERIFIED if is_supported else DialogueLabel.UNVERIFIABLE


def alternating(texts: Sequence[str]) -> list[Said]:
    """Return what was said before a turn of the assistant, by two speakers who take turns."""
    return [Said(text, (len(texts) - place) % 2 == 0) for place, text in enumerate(texts)]
