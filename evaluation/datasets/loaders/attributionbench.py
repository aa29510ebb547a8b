"""AttributionBench: statements with references, and whether these support them.

Source: Li et al. 2024, "AttributionBench: How Hard is Automatic Attribution Evaluation?".
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from veritrail_graph.evaluation.datasets.loaders.building import (
    Building,
    Filled,
    RowModel,
    numbered,
)
from veritrail_graph.evaluation.datasets.loaders.detecting import table_files, why_no_tables
from veritrail_graph.evaluation.datasets.model import Dataset
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.model.noun import OneOf


class _Label(StrEnum):
    ATTRIBUTABLE = "attributable"
    NOT_ATTRIBUTABLE = "not attributable"

    @property
    def verdict(self) -> Verdict:
        is_one = self is _Label.ATTRIBUTABLE
        return Verdict.FULLY_SUPPORTED if is_one else Verdict.NOT_FULLY_SUPPORTED


class _Row(RowModel):
    id: Filled
    question: str
    claim: Filled
    response: str | None = None
    references: list[str]
    attribution_label: OneOf[_Label]
    src_dataset: Filled


class AttributionBenchLoader:
    """Reads the splits of AttributionBench, each a file or all in a folder."""

    name = "attributionbench"
    description = "AttributionBench: statements with references, a row is a claim"
    layout = "{train,dev,test,test_ood}_all_subset_balanced.jsonl"
    source = "github.com/OSU-NLP-Group/AttributionBench, data"

    def detect(self, path: Path) -> str | None:
        """By its columns."""
        return why_no_tables(path, ("claim", "references", "attribution_label", "src_dataset"))

    def load(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        """Read it. Each row is a process: its label is about its own references alone.

        Raises:
            InputError: It cannot be read; the message names the row and the column.
        """
        building = Building(path, self.name, "AttributionBench", skip_bad=skip_bad)
        for table in table_files(path):
            for where, row in building.rows(table, _Row):
                documents = numbered(row.references, "reference")
                if not documents:
                    building.count("row without references: there is nothing to check against")
                    continue
                if building.has_process(row.id):
                    building.fault(where, "id", f"{row.id!r} is the id of a row before it")
                    continue
                question = row.question.strip() or None
                process = building.process(row.id, documents, where, question=question)
                response = (row.response or "").strip() or row.claim
                node = building.answer(process, "response", response, where)
                building.claim(
                    where,
                    process_id=process,
                    claim_id="claim",
                    text=row.claim,
                    node_id=node,
                    label=row.attribution_label.verdict,
                    label_origin=f"AttributionBench: {row.src_dataset}",
                )
        return building.finish(description="Statements with references.")
