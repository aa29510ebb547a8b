"""FADE: answers in conversations about a knowledge graph, with the words that are made up.

Source: Das et al. 2022, "Diving Deep into Modes of Fact Hallucinations in Dialogue Systems".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from veritrail_eval.datasets.loaders.building import Filled, RowModel
from veritrail_eval.datasets.loaders.detecting import (
    stem_of,
    table_files,
    why_no_tables,
)
from veritrail_eval.dialogues.loaders.building import (
    DialogueBuilding,
    DialogueSet,
    Said,
    alternating,
    label_of_support,
)
from veritrail_graph.graph.importers.printed import NO_LITERAL, literal

NOT_MADE_UP = "O"
_KEYS = ("history", "response", "speaker", "knowledge_base", "dialogue_id", "hallucination_tags")
_LONGEST = 200_000
"""Characters of a cell that holds a list or a mapping."""


def _value(value: Any) -> Any:
    """A cell that holds a list or a mapping as Python writes it."""
    if not isinstance(value, str):
        return value
    try:
        return literal(value.strip()) if len(value) <= _LONGEST else None
    except NO_LITERAL:
        raise PydanticCustomError("literal", "is no list or mapping as Python writes it") from None


class _Row(RowModel):
    history: Annotated[list[str], BeforeValidator(_value)]
    response: str
    speaker: Filled
    knowledge_base: Annotated[dict[str, Any], BeforeValidator(_value)]
    dialogue_id: Annotated[str, BeforeValidator(str)]
    hallucination_tags: Annotated[list[str], BeforeValidator(_value)]
    corrupted_response: str | None = None

    @property
    def text(self) -> str:
        """Say what the tags are about: the response with the words put in, where there are any."""
        return (self.corrupted_response or "").strip() or self.response

    @property
    def is_made_up(self) -> bool:
        """Return whether any word is made up."""
        return any(tag != NOT_MADE_UP for tag in self.hallucination_tags)

    @property
    def document(self) -> str:
        """The facts of the graph that the answer was written from."""
        rendered = self.knowledge_base.get("render")
        if isinstance(rendered, str) and rendered.strip():
            return rendered.strip()
        paths = self.knowledge_base.get("paths")
        triples = paths if isinstance(paths, list) else []
        return "\n".join(" ".join(map(str, one)) for one in triples if isinstance(one, list))


@dataclass(frozen=True, slots=True)
class _Placed:
    """A row with its place, and the number of it in its table."""

    row: _Row
    where: str
    number: int

    @property
    def index(self) -> int:
        """Return which turn of the conversation it is, from 0."""
        return len(self.row.history)


class FadeLoader:
    """Reads FADE's tables; the answers of one speaker in a conversation belong to one dialogue."""

    name = "fade"
    description = "FADE: answers about facts of a graph, with the words that are made up"
    layout = "test_observed.csv and others, or human_verified_500.csv; or a folder of them"
    source = "github.com/souvikdgp16/FADE, data"

    def detect(self, path: Path) -> str | None:
        """By its columns."""
        return why_no_tables(path, _KEYS)

    def load(self, path: Path, *, skip_bad: bool = False) -> DialogueSet:
        """Read it.

        Raises:
            InputError: It cannot be read; the message names the row and the column.
        """
        building = DialogueBuilding(path, self.name, skip_bad=skip_bad)
        for table in table_files(path):
            groups: dict[tuple[str, str], list[_Placed]] = {}
            for number, (where, row) in enumerate(building.rows(table, _Row), 1):
                if not row.text.strip():
                    building.fault(where, "response", "is empty")
                    continue
                key = row.dialogue_id, row.speaker
                groups.setdefault(key, []).append(_Placed(row, where, number))
            for (dialogue_id, speaker), placed in groups.items():
                _add(building, f"fade-{stem_of(table)}-{dialogue_id}-{speaker}", placed)
        return building.finish(
            "FADE",
            description="Answers in conversations about a knowledge graph, with words made up.",
            licence="MIT (FADE); CC BY-NC 4.0 (OpenDialKG, whose conversations it holds)",
        )


def _add(building: DialogueBuilding, key: str, placed: Sequence[_Placed]) -> None:
    """Add the answers of a speaker: together where they fit into one conversation, else alone."""
    longest = max(placed, key=lambda one: one.index)
    together: dict[int, _Placed] = {longest.index: longest}
    for one in placed:
        if one is longest:
            continue
        if one.index not in together and _fits(one, longest):
            together[one.index] = one
        else:
            building.count("answer that does not fit into its conversation: a dialogue of its own")
            said = [*alternating(one.row.history), _answer(building, one.row)]
            building.dialogue(f"{key}-{one.number}", said, one.where)
    building.dialogue(key, _said(building, longest, together), longest.where)


def _fits(one: _Placed, longest: _Placed) -> bool:
    """Return whether an answer is an earlier turn of the conversation with the longest one."""
    before = [*one.row.history, one.row.response]
    same = [_alike(text) for text in before] == [
        _alike(text) for text in longest.row.history[: len(before)]
    ]
    return same and (longest.index - one.index) % 2 == 0


def _alike(text: str) -> str:
    return " ".join(text.split()).casefold()


def _said(
    building: DialogueBuilding, longest: _Placed, together: Mapping[int, _Placed]
) -> list[Said]:
    before = alternating(longest.row.history)
    said = [
        _answer(building, together[place].row) if place in together else one
        for place, one in enumerate(before)
    ]
    return [*said, _answer(building, longest.row)]


def _answer(building: DialogueBuilding, row: _Row) -> Said:
    document = row.document
    if not document:
        building.count("answer without facts of the graph: compared with nothing")
    return Said(
        row.text,
        is_assistant=True,
        documents=[document] if document else [],
        label=label_of_support(is_supported=not row.is_made_up),
        metadata={"speaker": row.speaker},
    )
