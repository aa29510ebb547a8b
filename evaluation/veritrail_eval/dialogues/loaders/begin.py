"""BEGIN: answers of dialogue systems, and whether a text supports all that they say.

Source: Dziri et al. 2022, "Evaluating Attribution in Dialogue Systems: The BEGIN Benchmark".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from veritrail_eval.datasets.loaders.building import Filled, RowModel
from veritrail_eval.datasets.loaders.detecting import (
    keys_of,
    stem_of,
    table_files,
    why_no_tables,
)
from veritrail_eval.dialogues.loaders.building import (
    DialogueBuilding,
    DialogueSet,
    Said,
    label_of_support,
)

_LABELS: Mapping[str, bool] = {
    "fully attributable": True,
    "not fully attributable": False,
    "entailment": True,
    "hallucination": False,
    "contradiction": False,
    "generic": False,
    "off-topic": False,
}
NO_STATEMENT = frozenset({"generic", "off-topic"})
"""Labels of answers that hold no statement about the text, or none that fits."""


def _known(value: Any) -> str:
    label = value.strip().casefold() if isinstance(value, str) else ""
    if label not in _LABELS:
        raise PydanticCustomError("label", "is none of " + ", ".join(_LABELS))
    return label


_Label = Annotated[str, BeforeValidator(_known)]


class _Row(RowModel):
    knowledge: Filled
    message: str
    response: Filled
    label: _Label = Field(alias="begin_label")
    model: str | None = Field(default=None, alias="model_name")


class _FirstRow(RowModel):
    knowledge: Filled = Field(alias="evidence")
    message: str = Field(alias="previous turn")
    response: Filled
    label: _Label = Field(alias="gold label")

    @property
    def model(self) -> None:
        """It is not named."""


class BeginLoader:
    """Reads BEGIN's tables, of the first release and of the second one."""

    name = "begin"
    description = "BEGIN: answers to one message, with a text that supports them or not"
    layout = "begin_{dev,test}_{wow,cmu,tc}.tsv, or dev_05_24_21.tsv of 2021; or a folder of them"
    source = "github.com/google/BEGIN-dataset"

    def detect(self, path: Path) -> str | None:
        """By the columns of either release."""
        if why_no_tables(path, ("evidence", "previous turn", "gold label")) is None:
            return None
        return why_no_tables(path, ("knowledge", "message", "response", "begin_label"))

    def load(self, path: Path, *, skip_bad: bool = False) -> DialogueSet:
        """Read it; each row is a dialogue of a message and the answer to it.

        Raises:
            InputError: It cannot be read; the message names the row and the column.
        """
        building = DialogueBuilding(path, self.name, skip_bad=skip_bad)
        for table in table_files(path):
            is_first = "gold label" in (keys_of(table) or ())
            model: type[_Row | _FirstRow] = _FirstRow if is_first else _Row
            for number, (where, row) in enumerate(building.rows(table, model), 1):
                _add(building, row, f"begin-{stem_of(table)}-{number}", where)
        return building.finish(
            "BEGIN",
            description="Answers of dialogue systems to a message, with a text beside them.",
            licence="CC BY 4.0 (Wizard of Wikipedia, CMU DoG), CDLA-Sharing-1.0 (Topical-Chat)",
        )


def _add(building: DialogueBuilding, row: _Row | _FirstRow, key: str, where: str) -> None:
    if row.label in NO_STATEMENT:
        building.count(f"answer labelled {row.label}: kept, UNVERIFIABLE")
    answer = Said(
        row.response,
        is_assistant=True,
        documents=[row.knowledge],
        label=label_of_support(is_supported=_LABELS[row.label]),
        metadata={"label": row.label, **({"model": row.model} if row.model else {})},
    )
    building.dialogue(key, [Said(row.message, is_assistant=False), answer], where)
