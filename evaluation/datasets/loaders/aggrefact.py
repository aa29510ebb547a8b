"""LLM-AggreFact: claims beside a document, from eleven data sets.

Source: Tang et al. 2024, "MiniCheck: Efficient Fact-Checking of LLMs on Grounding Documents".
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
    dataset: Filled
    doc: Filled
    claim: Filled
    label: Binary


class AggreFactLoader:
    """Reads the splits of LLM-AggreFact, each a file or all in a folder."""

    name = "llm-aggrefact"
    description = "LLM-AggreFact: claims beside a document, a row is a claim"
    layout = "dev-*.parquet and test-*.parquet, or the same as CSV or JSON Lines"
    source = "huggingface.co/datasets/lytang/LLM-AggreFact (after its terms are accepted)"

    def detect(self, path: Path) -> str | None:
        """By its columns."""
        return why_no_tables(path, _Row.model_fields)

    def load(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        """Read it; the claims beside one document belong to one process.

        Raises:
            InputError: It cannot be read; the message names the row and the column.
        """
        building = Building(path, self.name, "LLM-AggreFact", skip_bad=skip_bad)
        known: dict[tuple[str, str, str], tuple[bool, str]] = {}
        for table in table_files(path):
            split = stem_of(table).partition("-")[0]
            for where, row in building.rows(table, _Row):
                key = (row.dataset, row.doc, row.claim)
                label, before = known.setdefault(key, (row.label, where))
                if before != where:
                    if label is row.label:
                        building.count("row that repeats another one: kept once")
                    else:
                        building.fault(where, "label", f"is not the label of {before}, which has "
                                       "the same document and claim")  # fmt: skip
                    continue
                process = building.process(
                    f"{row.dataset}-{text_key(row.doc)}", {"document/1": row.doc}, where,
                    name=row.dataset,
                )  # fmt: skip
                name = text_key(row.claim)
                node = building.answer(process, f"claim/{name}", row.claim, where)
                building.claim(
                    where,
                    process_id=process,
                    claim_id=name,
                    text=row.claim,
                    node_id=node,
                    label=Verdict.FULLY_SUPPORTED if row.label else Verdict.NOT_FULLY_SUPPORTED,
                    label_origin=f"{row.dataset}, {split}",
                )
        return building.finish(description="Claims beside a document.", licence="CC-BY-ND-4.0")
