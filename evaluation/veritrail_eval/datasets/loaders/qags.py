"""QAGS: sentences of summaries, each with what three workers said of it.

Source: Wang et al. 2020, "Asking and Answering Questions to Evaluate the Factual Consistency of
Summaries".
"""

from __future__ import annotations

from enum import StrEnum

from veritrail_eval.annotation.final_labels import distribution
from veritrail_eval.datasets.loaders.building import (
    Building,
    Filled,
    RowModel,
    annotation,
    verdict_of,
)
from veritrail_eval.datasets.loaders.of_tables import Place, TableLoader
from veritrail_eval.datasets.model import AnnotatorLabel
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


class QagsLoader(TableLoader[_Row]):
    """Reads the workers' labels of QAGS; the label of a sentence is what most workers said."""

    name = "qags"
    description = "QAGS: sentences of summaries, labelled by three workers each"
    layout = "mturk_cnndm.jsonl, mturk_xsum.jsonl, or both in a folder"
    source = "github.com/W4ngatang/qags, data"
    title = "QAGS"
    contents = "Sentences of summaries with labels of workers."
    row = _Row

    def add(self, building: Building, row: _Row, place: Place) -> None:
        """A row is a process; its summary is the output, and each sentence of it a claim."""
        where, domain = place.where, place.table.removeprefix("mturk_")
        if not row.summary_sentences:
            building.fault(where, "summary_sentences", "is empty")
            return
        key = f"{domain}-{place.number}"
        process = building.process(key, {"document/1": row.article}, where, name=domain)
        text = " ".join(one.sentence.strip() for one in row.summary_sentences)
        node = building.answer(process, "summary", text, where)
        for number, one in enumerate(row.summary_sentences, 1):
            self._claim(building, process, node, number, one, where)

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
            label = verdict_of(yes * 2 > len(said))
        else:
            building.count("sentence without a majority of the workers: kept without a label")
        labels = tuple(
            annotation(
                f"worker {worker}",
                AnnotatorLabel.FULLY_SUPPORTED
                if answer is _Answer.YES
                else AnnotatorLabel.NOT_FULLY_SUPPORTED,
            )
            for worker, answer in zip(workers, said, strict=True)
        )
        building.claim(
            where,
            process_id=process,
            claim_id=f"s{place}",
            text=one.sentence,
            node_id=node,
            label=label,
            label_origin="majority",
            labels=labels,
            label_distribution=distribution(labels),
        )
