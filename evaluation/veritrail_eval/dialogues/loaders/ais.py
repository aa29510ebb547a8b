"""AIS: answers in conversations, and whether all that they say is attributable to a source.

AIS publishes answers and judgements; conversations and sources are those of the data sets that
they come from, which stand beside them: Wizard of Wikipedia, and QReCC with its passages.

Source: Rashkin et al. 2023, "Measuring Attribution in Natural Language Generation Models".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from veritrail_eval.datasets.loaders.building import Binary, Filled, RowModel
from veritrail_eval.datasets.loaders.detecting import keys_of
from veritrail_eval.dialogues.loaders.building import (
    DialogueBuilding,
    DialogueSet,
    Said,
    alternating,
    label_of_support,
)
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files

WIZARD, QRECC = "ann_wow.csv", "ann_qrecc.csv"
WIZARD_SOURCE = ("test_random_split.json",)
QRECC_SOURCE = ("qrecc_test.json", "scai-qrecc21-test-turns.json", "scai-qrecc21-questions.json")
PASSAGES = "passages"
"""The file, or the folder of files, of QReCC's passages: lines of `id` and `contents`."""
_COLUMNS = ("ex-idx", "model-name", "output", "INT & AIS")
_NO_SENTENCE = "no_passages_used"


def _place(value: Any) -> tuple[int, int]:
    first, _, second = str(value).strip().partition(":")
    if not (first.isascii() and first.isdecimal() and second.isascii() and second.isdecimal()):
        raise PydanticCustomError("place", "is no conversation and turn such as 12:3")
    return int(first), int(second)


class _Row(RowModel):
    place: Annotated[tuple[int, int], BeforeValidator(_place)] = Field(alias="ex-idx")
    passage: str = Field(alias="doc-url")
    model: Filled = Field(alias="model-name")
    output: Filled
    is_understood: Binary = Field(alias="INT")
    is_attributable: Binary = Field(alias="INT & AIS")
    is_flagged: Binary = Field(alias="Flagged")


class _Spoken(RowModel):
    speaker: str
    text: str
    checked_sentence: Mapping[str, str] = Field(default_factory=dict)
    checked_passage: Mapping[str, str] = Field(default_factory=dict)


class _Conversation(RowModel):
    dialog: list[Any]


class _Question(RowModel):
    conversation: int = Field(alias="Conversation_no")
    turn: int = Field(alias="Turn_no")
    context: list[str] = Field(alias="Context")
    question: Filled = Field(alias="Question")


class AisLoader:
    """Reads AIS's judgements about conversations, with the data sets that they come from."""

    name = "ais"
    description = "AIS: answers in conversations, attributable to a source or not"
    layout = (
        f"a folder of {WIZARD} with {WIZARD_SOURCE[0]}, or {QRECC} with {QRECC_SOURCE[0]} and "
        f"{PASSAGES}.jsonl; or both"
    )
    source = "github.com/google-research-datasets/AIS; parl.ai (WoW); zenodo.org/record/5760304"

    def detect(self, path: Path) -> str | None:
        """By the names and columns of its tables."""
        tables = [path / name for name in (WIZARD, QRECC)] if path.is_dir() else []
        there = [one for one in tables if one.is_file()]
        if not there:
            return f"no folder with {WIZARD} or {QRECC}"
        if not all(set(_COLUMNS) <= (keys_of(one) or frozenset()) for one in there):
            return f"{there[0].name} lacks the columns {', '.join(_COLUMNS)}"
        return None

    def load(self, path: Path, *, skip_bad: bool = False) -> DialogueSet:
        """Read it; each answer is a dialogue that ends with it.

        Raises:
            InputError: It cannot be read, or a file that it needs is missing; the message names
                the row and the column.
        """
        building = DialogueBuilding(path, self.name, skip_bad=skip_bad)
        for name, add in ((WIZARD, _add_wizard), (QRECC, _add_qrecc)):
            if not (path / name).is_file():
                building.count(f"table {name}: not there")
                continue
            rows = [
                (where, row) for where, row in building.rows(path / name, _Row)
                if _is_judged(building, row, where)
            ]  # fmt: skip
            add(building, path, rows)
        return building.finish(
            "AIS",
            description="Answers in conversations, judged by five people against a source.",
            licence="CC BY 4.0 (AIS, Wizard of Wikipedia); CC BY-SA 3.0 (QReCC)",
        )


_Rows = Sequence[tuple[str, _Row]]


def _is_judged(building: DialogueBuilding, row: _Row, where: str) -> bool:
    if row.is_flagged:
        building.count("answer whose task annotators flagged as malformed: left out")
        return False
    if row.is_attributable and not row.is_understood:
        message = "is 1, but INT is 0: only what is understood is judged"
        building.fault(where, "INT & AIS", message)
        return False
    if not row.is_understood:
        building.count("answer that annotators could not interpret: kept, UNVERIFIABLE")
    return True


def _beside(path: Path, names: Sequence[str], needed_by: str) -> Path:
    """A file of the data set that a table comes from.

    Raises:
        InputError: It is not there.
    """
    for name in names:
        for one in (path / name, path / f"{name}.gz"):
            if one.is_file():
                return one
    raise InputError(
        f"{path / names[0]} is not there: {needed_by} holds answers alone, and the conversations "
        "are in that file. Put it beside the table, or remove the table (docs/datasets.md)."
    )


def _answer(row: _Row, documents: Sequence[str]) -> Said:
    return Said(
        row.output,
        is_assistant=True,
        documents=documents,
        label=label_of_support(is_supported=row.is_attributable),
        metadata={"model": row.model},
    )


# Wizard of Wikipedia


def _add_wizard(building: DialogueBuilding, path: Path, rows: _Rows) -> None:
    source = _beside(path, WIZARD_SOURCE, WIZARD)
    conversations = files.document(source)
    if not isinstance(conversations, list):
        raise InputError(f"{source} must be a list of conversations.")
    for where, row in rows:
        number, turn = row.place
        if number >= len(conversations):
            building.fault(where, "ex-idx", f"{source.name} has no conversation {number}")
            continue
        found = building.check(
            _Conversation, conversations[number], f"{source.name}, conversation {number}"
        )
        spoken = [] if found is None else found.dialog[: turn + 1]
        turns = [
            building.check(_Spoken, one, f"{source.name}, conversation {number}, turn {place}")
            for place, one in enumerate(spoken)
        ]
        known = [one for one in turns if one is not None]
        if found is None or len(known) < len(turns):
            continue
        if turn >= len(found.dialog):
            building.fault(where, "ex-idx", f"conversation {number} has no turn {turn}")
            continue
        target = known[turn]
        said = [Said(one.text, one.speaker == target.speaker) for one in known[:turn]]
        document = _sentence(target)
        if document is None:
            building.count("answer without a sentence to check it against: compared with nothing")
        said.append(_answer(row, [document] if document else []))
        building.dialogue(f"ais-wow-{number}:{turn}-{row.model}", said, where)


def _sentence(turn: _Spoken) -> str | None:
    """The sentence that the wizard had chosen, below the title of its article."""
    sentences = [text for key, text in turn.checked_sentence.items() if key != _NO_SENTENCE]
    if not sentences:
        return None
    titles = [text for text in turn.checked_passage.values() if text != _NO_SENTENCE]
    return "\n".join([*titles[:1], *sentences])


# QReCC


def _add_qrecc(building: DialogueBuilding, path: Path, rows: _Rows) -> None:
    source = _beside(path, QRECC_SOURCE, QRECC)
    questions = {(one.conversation, one.turn): one for _, one in building.rows(source, _Question)}
    passages = _passages(path, {row.passage for _, row in rows})
    for where, row in rows:
        asked = questions.get(row.place)
        passage = passages.get(row.passage)
        if asked is None:
            message = f"{source.name} has no conversation and turn {row.place[0]}:{row.place[1]}"
            building.fault(where, "ex-idx", message)
        elif passage is None:
            building.fault(where, "doc-url", f"no passage of {PASSAGES} has this id")
        else:
            said = [*alternating([*asked.context, asked.question]), _answer(row, [passage])]
            key = f"ais-qrecc-{asked.conversation}:{asked.turn}-{row.model}"
            building.dialogue(key, said, where)


def _passages(path: Path, wanted: set[str]) -> dict[str, str]:
    """The passages of some ids; the collection is large, so it is read line by line.

    Raises:
        InputError: There are no passages, or a file of them cannot be read.
    """
    folder = path / PASSAGES
    found = sorted(one for one in folder.rglob("*.jsonl*") if one.is_file())
    found += [one for one in (path / f"{PASSAGES}.jsonl", path / f"{PASSAGES}.jsonl.gz")
              if one.is_file()]  # fmt: skip
    if not found:
        raise InputError(
            f"{folder}.jsonl is not there: {QRECC} names passages of QReCC's collection. Put a "
            f"file of lines of id and contents there, or a folder {PASSAGES}, or remove the table."
        )
    texts: dict[str, str] = {}
    for one in found:
        for _, value in files.json_lines(one):
            if not isinstance(value, dict):
                continue
            name, text = value.get("id"), value.get("contents")
            if isinstance(name, str) and isinstance(text, str) and name in wanted:
                texts[name] = text
    return texts
