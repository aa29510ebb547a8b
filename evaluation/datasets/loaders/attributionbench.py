"""AttributionBench: statements with references, and whether these support them.

Source: Li et al. 2024, "AttributionBench: How Hard is Automatic Attribution Evaluation?".
"""

from __future__ import annotations

from enum import StrEnum

from veritrail_graph.evaluation.datasets.loaders.building import (
    Building,
    Filled,
    RowModel,
    numbered,
    verdict_of,
)
from veritrail_graph.evaluation.datasets.loaders.of_tables import Place, TableLoader
from veritrail_graph.graph.model.noun import OneOf


class _Label(StrEnum):
    ATTRIBUTABLE = "attributable"
    NOT_ATTRIBUTABLE = "not attributable"


class _Row(RowModel):
    id: Filled
    question: str
    claim: Filled
    response: str | None = None
    references: list[str]
    attribution_label: OneOf[_Label]
    src_dataset: Filled


class AttributionBenchLoader(TableLoader[_Row]):
    """Reads the splits of AttributionBench.

    Each row is a process, because its label is about its own references alone.
    """

    name = "attributionbench"
    description = "AttributionBench: statements with references, a row is a claim"
    layout = "{train,dev,test,test_ood}_all_subset_balanced.jsonl"
    source = "github.com/OSU-NLP-Group/AttributionBench, data"
    title = "AttributionBench"
    contents = "Statements with references."
    row = _Row
    columns = ("claim", "references", "attribution_label", "src_dataset")

    def add(self, building: Building, row: _Row, place: Place) -> None:
        """A response is the output; its statement is the claim."""
        where, documents = place.where, numbered(row.references, "reference")
        if not documents:
            building.count("row without references: there is nothing to check against")
            return
        if building.has_process(row.id):
            building.fault(where, "id", f"{row.id!r} is the id of a row before it")
            return
        question = row.question.strip() or None
        process = building.process(row.id, documents, where, question=question)
        response = (row.response or "").strip() or row.claim
        building.claim(
            where,
            process_id=process,
            claim_id="claim",
            text=row.claim,
            node_id=building.answer(process, "response", response, where),
            label=verdict_of(row.attribution_label is _Label.ATTRIBUTABLE),
            label_origin=f"AttributionBench: {row.src_dataset}",
        )
