"""LLM-AggreFact: claims beside a document, from eleven data sets.

Source: Tang et al. 2024, "MiniCheck: Efficient Fact-Checking of LLMs on Grounding Documents".
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
    dataset: Filled
    doc: Filled
    claim: Filled
    label: Binary


class AggreFactLoader(TableLoader[_Row]):
    """Reads the splits of LLM-AggreFact; the claims beside one document belong to one process."""

    name = "llm-aggrefact"
    description = "LLM-AggreFact: claims beside a document, a row is a claim"
    layout = "dev-*.parquet and test-*.parquet, or the same as CSV or JSON Lines"
    source = "huggingface.co/datasets/lytang/LLM-AggreFact (after its terms are accepted)"
    title = "LLM-AggreFact"
    contents = "Claims beside a document."
    row = _Row
    licence = "CC-BY-ND-4.0"

    def add(self, building: Building, row: _Row, place: Place) -> None:
        """A row that repeats another one is kept once; with another label it is a fault."""
        where = place.where
        key_of_row = row.dataset, row.doc, row.claim
        before = building.agreed(key_of_row, row.label, where, "document and claim")
        if before is None:
            return
        if before != where:
            building.count("row that repeats another one: kept once")
            return
        key, name = f"{row.dataset}-{text_key(row.doc)}", text_key(row.claim)
        building.claim_of_output(
            where,
            process_id=building.process(key, {"document/1": row.doc}, where, name=row.dataset),
            node_id=f"claim/{name}",
            claim_id=name,
            text=row.claim,
            label=verdict_of(row.label),
            label_origin=f"{row.dataset}, {place.table.partition('-')[0]}",
        )
