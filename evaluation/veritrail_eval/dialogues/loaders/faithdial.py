"""FaithDial: conversations of Wizard of Wikipedia, with a label for what the wizard said at first.

Source: Dziri et al. 2022, "FaithDial: A Faithful Benchmark for Information-Seeking Dialogue".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from veritrail_eval.datasets.loaders.building import Filled, RowModel
from veritrail_eval.datasets.loaders.detecting import (
    keys_of,
    stem_of,
    table_files,
)
from veritrail_eval.dialogues.loaders.building import (
    DialogueBuilding,
    DialogueSet,
    Said,
    alternating,
    label_of_support,
)

ENTAILMENT, HALLUCINATION = "Entailment", "Hallucination"
_KINDS = frozenset({ENTAILMENT, HALLUCINATION, "Uncooperative", "Generic"})
_KEYS = ("history", "knowledge", "response", "original_response", "BEGIN")


def _kinds(values: list[str]) -> list[str]:
    found = [one.strip().capitalize() for one in values]
    if strange := [one for one in found if one not in _KINDS]:
        message = f"holds {strange[0]!r}, which is none of {', '.join(sorted(_KINDS))}"
        raise PydanticCustomError("kind", message)
    return found


class _Utterance(RowModel):
    history: Annotated[list[str], Field(min_length=1)]
    knowledge: str
    response: Filled
    original_response: str | None = None
    begin: Annotated[list[str], AfterValidator(_kinds)] = Field(alias="BEGIN")

    @property
    def text(self) -> str:
        """Return what the wizard said before it was edited, which is what the label is about."""
        return (self.original_response or "").strip() or self.response


class _Row(_Utterance):
    dialog_idx: int


class _Conversation(RowModel):
    utterances: list[object]


class FaithDialLoader:
    """Reads FaithDial's files, by conversation or by turn."""

    name = "faithdial"
    description = "FaithDial: every turn of the wizard, as it was before it was edited"
    layout = "{train,valid,test}.json (conversations), or tables of turns (parquet); or a folder"
    source = "huggingface.co/datasets/McGill-NLP/FaithDial"

    def detect(self, path: Path) -> str | None:
        """By the keys of a conversation or of a turn."""
        reason = "no table in the folder"
        for one in table_files(path):
            keys = keys_of(one) or frozenset()
            if {"dialog_idx", *_KEYS} <= keys or (keys and _is_conversation(one)):
                return None
            reason = f"{one.name} holds neither utterances with BEGIN nor turns with dialog_idx"
        return reason

    def load(self, path: Path, *, skip_bad: bool = False) -> DialogueSet:
        """Read it; a conversation is a dialogue.

        Raises:
            InputError: It cannot be read; the message names the conversation, the turn and the key.
        """
        building = DialogueBuilding(path, self.name, skip_bad=skip_bad)
        for table in table_files(path):
            stem = stem_of(table)
            found = _by_turn if "dialog_idx" in (keys_of(table) or ()) else _by_conversation
            for key, where, turns in found(building, table):
                building.dialogue(f"faithdial-{stem}-{key}", _said(building, turns), where)
        return building.finish(
            "FaithDial",
            description="Conversations about a topic, with a label for every turn of the wizard.",
            licence="MIT",
        )


def _is_conversation(path: Path) -> bool:
    from veritrail_graph.graph.importers import files

    first = files.first_record(path)
    said = first.get("utterances") if isinstance(first, dict) else None
    turn = said[0] if isinstance(said, list) and said else None
    return isinstance(turn, dict) and {"history", "knowledge", "BEGIN"} <= turn.keys()


_Found = Iterator[tuple[str, str, Sequence[_Utterance]]]


def _by_conversation(building: DialogueBuilding, table: Path) -> _Found:
    for number, (where, row) in enumerate(building.rows(table, _Conversation), 1):
        turns = [
            building.check(_Utterance, one, f"{where}, utterance {place}")
            for place, one in enumerate(row.utterances, 1)
        ]
        known = [one for one in turns if one is not None]
        if known and len(known) == len(turns):
            yield str(number), where, known
        elif not turns:
            building.fault(where, "utterances", "is empty")


def _by_turn(building: DialogueBuilding, table: Path) -> _Found:
    groups: dict[int, list[tuple[str, _Utterance]]] = {}
    for where, row in building.rows(table, _Row):
        groups.setdefault(row.dialog_idx, []).append((where, row))
    for key, members in groups.items():
        yield str(key), members[0][0], [row for _, row in members]


def _said(building: DialogueBuilding, turns: Sequence[_Utterance]) -> list[Said]:
    """The turns of a conversation: what is new in each history, and the wizard's answer."""
    said: list[Said] = []
    heard = 0
    for turn in turns:
        # A history ends with the seeker's message; before it stands what was said until then.
        new = turn.history[heard:] if len(turn.history) > heard else turn.history[-1:]
        if len(turn.history) <= heard:
            building.count("history that does not go on from the one before: its last message only")
        said += alternating(new)
        said.append(_answer(building, turn))
        heard = len(turn.history) + 1
    return said


def _answer(building: DialogueBuilding, turn: _Utterance) -> Said:
    kinds = set(turn.begin)
    is_faithful = ENTAILMENT in kinds and HALLUCINATION not in kinds
    if not kinds & {ENTAILMENT, HALLUCINATION}:
        named = ", ".join(sorted(kinds)) or "nothing"
        building.count(f"turn labelled {named}: kept, UNVERIFIABLE")
    document = turn.knowledge.strip()
    return Said(
        turn.text,
        is_assistant=True,
        documents=[document] if document else [],
        label=label_of_support(is_supported=is_faithful),
        metadata={"BEGIN": sorted(kinds)},
    )
