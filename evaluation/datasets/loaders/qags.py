"""QAGS: sentences of summaries, each with what three workers said of it.

Source: Wang et al. 2020, "Asking and Answering Questions to Evaluate the Factual Consistency of
Summaries".
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from veritrail_graph.evaluation.datasets.labels import AnnotatorLabel
from veritrail_graph.evaluation.datasets.loaders.building import (
    Building,
    Filled,
    RowModel,
    annotation,
)
from veritrail_graph.evaluation.datasets.loaders.detecting import (
    stem_of,
    table_files,
    why_no_tables,
)
from veritrail_graph.evaluation.datasets.model import Dataset
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.model.noun import OneOf


class _Answer(StrEnum):
    YES = "yes"
    NO = "no"


class _Response(RowModel):
    worker_id: int | str
    response: OneOf[_Answer]


class _Sentence(RowModel):
    sentence: Filled
    responses: list[_Response]


class _Row(RowModel):
    article: Filled
    summary_sentences: list[_Sentence]


class QagsLoader:
    """Reads the workers' labels of QAGS, `mturk_cnndm.jsonl` and `mturk_xsum.jsonl`."""

    name = "qags"
    description = "QAGS: sentences of summaries, labelled by three workers each"
    layout = "mturk_cnndm.jsonl, mturk_xsum.jsonl, or both in a folder"
    source = "github.com/W4ngatang/qags, data"

    def detect(self, path: Path) -> str | None:
        """By its keys."""
        return why_no_tables(path, _Row.model_fields)

    def load(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        """Read it; the label is what most workers said.

        Raises:
            InputError: It cannot be read; the message names the line and the key.
        """
        building = Building(path, self.name, "QAGS", skip_bad=skip_bad)
        for table in table_files(path):
            domain = stem_of(table).removeprefix("mturk_")
            for number, (where, row) in enumerate(building.rows(table, _Row), 1):
                if not row.summary_sentences:
                    building.fault(where, "summary_sentences", "is empty")
                    continue
                process = building.process(
                    f"{domain}-{number}", {"document/1": row.article}, where, name=domain
                )
                text = " ".join(one.sentence.strip() for one in row.summary_sentences)
                node = building.answer(process, "summary", text, where)
                for place, one in enumerate(row.summary_sentences, 1):
                    self._claim(building, process, node, place, one, where)
        return building.finish(description="Sentences of summaries with labels of workers.")

    def _claim(
        self,
        building: Building,
        process: str,
        node: str,
        place: int,
        one: _Sentence,
        where: str,
    ) -> None:
        said = [each.response for each in one.responses]
        workers = [str(each.worker_id) for each in one.responses]
        where = f"{where}, summary_sentences.{place - 1}"
        if len(set(workers)) < len(workers):
            building.fault(where, "responses", "a worker has labelled it twice")
            return
        label, yes = None, said.count(_Answer.YES)
        if yes * 2 != len(said):
            is_one = yes * 2 > len(said)
            label = Verdict.FULLY_SUPPORTED if is_one else Verdict.NOT_FULLY_SUPPORTED
        else:
            building.count("sentence without a majority of the workers: kept without a label")
        building.claim(
            where,
            process_id=process,
            claim_id=f"s{place}",
            text=one.sentence,
            node_id=node,
            label=label,
            label_origin="majority",
            labels=tuple(
                annotation(
                    f"worker {worker}",
                    AnnotatorLabel.FULLY_SUPPORTED
                    if answer is _Answer.YES
                    else AnnotatorLabel.NOT_FULLY_SUPPORTED,
                )
                for worker, answer in zip(workers, said, strict=True)
            ),
        )
