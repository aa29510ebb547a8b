"""SummEdits: summaries that a model edited, and whether they still agree with the document.

Source: Laban et al. 2023, "SummEdits: Measuring LLM Ability at Factual Reasoning".
"""

from __future__ import annotations

from veritrail_graph.evaluation.datasets.loaders.building import (
    Binary,
    Building,
    Filled,
    RowModel,
    text_key,
    verdict_of,
)
from veritrail_graph.evaluation.datasets.loaders.of_tables import Place, TableLoader


class _Row(RowModel):
    id: Filled
    doc: Filled
    summary: Filled
    label: Binary
    edit_types: list[str]


class SummEditsLoader(TableLoader[_Row]):
    """Reads the domains of SummEdits; the summaries of one document belong to one process."""

    name = "summedits"
    description = "SummEdits: edited summaries, a summary is a claim"
    layout = "summedits_DOMAIN.json, or the folder of them"
    source = "github.com/salesforce/factualNLG, data/summedits"
    title = "SummEdits"
    contents = "Edited summaries of documents."
    row = _Row
    licence = "Apache-2.0"

    def add(self, building: Building, row: _Row, place: Place) -> None:
        """A summary is an output, and a claim as a whole; two labels for it are a fault."""
        key_of_row = row.doc, row.summary
        before = building.agreed(key_of_row, row.label, place.where, "document and summary")
        if before is None:
            return
        if before != place.where:
            building.count("summary that repeats another one of its document: kept")
        domain = place.table.removeprefix("summedits_")
        key = f"{domain}-{text_key(row.doc)}"
        kinds = ", ".join(one.replace("_", " ") for one in row.edit_types)
        building.claim_of_output(
            place.where,
            process_id=building.process(key, {"document/1": row.doc}, place.where, name=domain),
            node_id=f"summary/{row.id}",
            claim_id=row.id,
            text=row.summary,
            label=verdict_of(row.label),
            label_origin=f"SummEdits: {kinds}" if kinds else "SummEdits",
        )
