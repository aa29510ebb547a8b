"""Published tables with a row for each claim and its documents, and one label for the two.

Sources: Tang et al. 2024, "MiniCheck: Efficient Fact-Checking of LLMs on Grounding Documents"
(LLM-AggreFact); Laban et al. 2023, "SummEdits: Measuring LLM Ability at Factual Reasoning"; Li et
al. 2024, "AttributionBench: How Hard is Automatic Attribution Evaluation?".
"""

from __future__ import annotations

from enum import StrEnum

from veritrail_eval.datasets.loaders.building import (
    Binary,
    Building,
    Filled,
    RowModel,
    numbered,
    text_key,
    verdict_of,
)
from veritrail_eval.datasets.loaders.of_tables import Place, TableLoader
from veritrail_graph.graph.model.noun import OneOf


class _AggreFactRow(RowModel):
    dataset: Filled
    doc: Filled
    claim: Filled
    label: Binary


class AggreFactLoader(TableLoader[_AggreFactRow]):
    """Reads the splits of LLM-AggreFact; the claims beside one document belong to one process."""

    name = "llm-aggrefact"
    description = "LLM-AggreFact: claims beside a document, a row is a claim"
    layout = "dev-*.parquet and test-*.parquet, or the same as CSV or JSON Lines"
    source = "huggingface.co/datasets/lytang/LLM-AggreFact (after its terms are accepted)"
    title = "LLM-AggreFact"
    contents = "Claims beside a document."
    row = _AggreFactRow
    licence = "CC-BY-ND-4.0"

    def add(self, building: Building, row: _AggreFactRow, place: Place) -> None:
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


class _SummEditsRow(RowModel):
    id: Filled
    doc: Filled
    summary: Filled
    label: Binary
    edit_types: list[str]


class SummEditsLoader(TableLoader[_SummEditsRow]):
    """Reads the domains of SummEdits; the summaries of one document belong to one process."""

    name = "summedits"
    description = "SummEdits: edited summaries, a summary is a claim"
    layout = "summedits_DOMAIN.json, or the folder of them"
    source = "github.com/salesforce/factualNLG, data/summedits"
    title = "SummEdits"
    contents = "Edited summaries of documents."
    row = _SummEditsRow
    licence = "Apache-2.0"

    def add(self, building: Building, row: _SummEditsRow, place: Place) -> None:
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


class _Label(StrEnum):
    ATTRIBUTABLE = "attributable"
    NOT_ATTRIBUTABLE = "not attributable"


class _AttributionBenchRow(RowModel):
    id: Filled
    question: str
    claim: Filled
    response: str | None = None
    references: list[str]
    attribution_label: OneOf[_Label]
    src_dataset: Filled


class AttributionBenchLoader(TableLoader[_AttributionBenchRow]):
    """Reads the splits of AttributionBench.

    Each row is a process, because its label is about its own references alone.
    """

    name = "attributionbench"
    description = "AttributionBench: statements with references, a row is a claim"
    layout = "{train,dev,test,test_ood}_all_subset_balanced.jsonl"
    source = "github.com/OSU-NLP-Group/AttributionBench, data"
    title = "AttributionBench"
    contents = "Statements with references."
    row = _AttributionBenchRow
    columns = ("claim", "references", "attribution_label", "src_dataset")

    def add(self, building: Building, row: _AttributionBenchRow, place: Place) -> None:
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
