"""SummEdits: summaries that a model edited, and whether they still agree with the document.

Source: Laban et al. 2023, "SummEdits: Measuring LLM Ability at Factual Reasoning".
"""

from __future__ import annotations

from pathlib import Path

from veritrail_graph.evaluation.datasets.loaders.building import (
    Binary,
    Building,
    Filled,
    RowModel,
    text_key,
)
from veritrail_graph.evaluation.datasets.loaders.detecting import (
    stem_of,
    table_files,
    why_no_tables,
)
from veritrail_graph.evaluation.datasets.model import Dataset
from veritrail_graph.graph.model import Verdict


class _Row(RowModel):
    id: Filled
    doc: Filled
    summary: Filled
    label: Binary
    edit_types: list[str]


class SummEditsLoader:
    """Reads the files of SummEdits, one a domain, or all of them in a folder."""

    name = "summedits"
    description = "SummEdits: edited summaries, a summary is a claim"
    layout = "summedits_DOMAIN.json, or the folder of them"
    source = "github.com/salesforce/factualNLG, data/summedits"

    def detect(self, path: Path) -> str | None:
        """By its columns."""
        return why_no_tables(path, _Row.model_fields)

    def load(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        """Read it; the summaries of one document belong to one process.

        Raises:
            InputError: It cannot be read; the message names the row and the column.
        """
        building = Building(path, self.name, "SummEdits", skip_bad=skip_bad)
        for table in table_files(path):
            domain = stem_of(table).removeprefix("summedits_")
            for where, row in building.rows(table, _Row):
                process = building.process(
                    f"{domain}-{text_key(row.doc)}", {"document/1": row.doc}, where, name=domain
                )
                node = building.answer(process, f"summary/{row.id}", row.summary, where)
                kinds = ", ".join(one.replace("_", " ") for one in row.edit_types)
                building.claim(
                    where,
                    process_id=process,
                    claim_id=row.id,
                    text=row.summary,
                    node_id=node,
                    label=Verdict.FULLY_SUPPORTED if row.label else Verdict.NOT_FULLY_SUPPORTED,
                    label_origin=f"SummEdits: {kinds}" if kinds else "SummEdits",
                )
        return building.finish(description="Edited summaries of documents.", licence="Apache-2.0")
