"""The predictions of a method for turns: from a run here, or from a file.

Source: VISTA 6; the file is what `veritrail dialogue verify --json` prints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from veritrail_eval.dialogues.gold import MOST_FAULTS, DialogueGold, TurnKey
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, Violation, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.process_file.schema import violations_of
from veritrail_graph.graph.model import Usage
from veritrail_graph.graph.model.dialogue import TurnVerification
from veritrail_graph.graph.model.noun import Many, Noun, PublicId, Text


@dataclass(frozen=True, slots=True)
class PredictedTurns:
    """One method's results for turns.

    Attributes:
        method: What tables call it.
        turns: What it says of each turn; one that is not there was not reached.
        engine: The engine; None: not known, or none is asked.
        model: The model; None: not known, or none is asked.
        indicative: Whether the engine asks no model.
        reused: What the answers from the cache would have cost, by turn.
        reasons: Why a turn has its label, where the method says so of the turn as a whole.
        notes: What a person should know.
        names_claims: Whether the method names claims of turns.
        gives_categories: Whether it says why claims are not verified.
    """

    method: str
    turns: Mapping[TurnKey, TurnVerification]
    engine: str | None = None
    model: str | None = None
    indicative: bool = False
    reused: Mapping[TurnKey, Usage] = field(default_factory=dict)
    reasons: Mapping[TurnKey, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    names_claims: bool = True
    gives_categories: bool = True

    @property
    def usage(self) -> Usage:
        """Return what all turns cost, those without a label in GOLD as well."""
        return sum((one.usage for one in self.turns.values()), Usage())


class _Run(Noun):
    """A run as a file has it: what is needed of `DialogueRun`."""

    dialogue_id: PublicId = Field(description="The dialogue.")
    turns: Many[TurnVerification] = Field(description="The turns.")
    engine: Text | None = Field(default=None, description="The engine.")
    model: Text | None = Field(default=None, description="The model.")
    indicative: bool = Field(default=False, description="Whether no model was asked.")


def read_predicted(path: Path, gold: DialogueGold) -> PredictedTurns:
    """Read runs of dialogues, as `veritrail dialogue verify --json` prints them.

    One document, one with `dialogues`, a list of documents, or one a line.

    Args:
        path: The file; its name without the ending is the name of the method.
        gold: The labelled turns; what the file says of other turns is noted.

    Raises:
        InputError: It cannot be read, holds no turn, or has faults, which are all listed.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file of verified dialogues.")
    faults: list[Violation] = []
    runs = [
        run
        for number, value in files.values(path)
        for run in _runs(path, value, f"entry {number}", faults)
    ]
    turns: dict[TurnKey, TurnVerification] = {}
    for run in runs:
        for turn in run.turns:
            key = run.dialogue_id, turn.turn_id
            if key in turns:
                where = f"dialogue {shown(run.dialogue_id)}, turn {shown(turn.turn_id)}"
                faults.append(Violation("duplicate_turn_id", where, "is there twice; keep one"))
            turns[key] = turn
    if not faults and not turns:
        faults.append(Violation("no_turns", path.name, "holds no turn"))
    if faults:
        raise InputError(
            f"{path} has {counted(len(faults), 'fault')}; nothing was computed.",
            faults[:MOST_FAULTS],
        )
    first = runs[0]
    return PredictedTurns(
        path.name.partition(".")[0] or path.name,
        turns,
        first.engine,
        first.model,
        any(run.indicative for run in runs),
        notes=_notes(path, turns, gold),
    )


def _runs(path: Path, value: Any, where: str, faults: list[Violation]) -> list[_Run]:
    """The runs of one value of the file; what is wrong with it joins the faults."""
    if isinstance(value, InputError):
        faults.append(Violation("not_json", where, str(value).removeprefix(f"{path}, ")))
        return []
    if isinstance(value, dict) and isinstance(value.get("dialogues"), list):
        return [
            run
            for number, one in enumerate(value["dialogues"])
            for run in _runs(path, one, f"{where}, dialogues[{number}]", faults)
        ]
    if not isinstance(value, dict) or "turns" not in value:
        message = "must be what `veritrail dialogue verify --json` prints, with `turns`"
        faults.append(Violation("unknown_shape", where, message))
        return []
    try:
        return [_Run.model_validate(value)]
    except ValidationError as error:
        faults += violations_of(error, where, _Run)
        return []


def _notes(
    path: Path, turns: Mapping[TurnKey, TurnVerification], gold: DialogueGold
) -> tuple[str, ...]:
    known = {
        (name, turn.turn_id) for name, dialogue in gold.dialogues.items() for turn in dialogue.turns
    }
    strange = [key for key in turns if key not in known]
    if not strange:
        return ()
    return (
        f"{path}: {counted(len(strange), 'turn')} of no dialogue of GOLD, such as "
        f"{shown(strange[0][1])} of {shown(strange[0][0])}; they are left out.",
    )
