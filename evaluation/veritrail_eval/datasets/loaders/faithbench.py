"""FaithBench: summaries that detectors disagree about, with spans that annotators marked.

Source: Bao et al. 2025, "FaithBench: A Diverse Hallucination Benchmark for Summarization by
Modern LLMs".
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import Field

from veritrail_eval.datasets.loaders.building import (
    Building,
    Filled,
    RowModel,
    annotation,
    text_key,
)
from veritrail_eval.datasets.loaders.detecting import keys_of, table_files
from veritrail_eval.datasets.loaders.spans import MarkedText
from veritrail_eval.datasets.model import Annotation, AnnotatorLabel, Dataset
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.model.noun import OneOf

_BATCH = re.compile(r"batch_(\d+)")
_CSV = ("source", "summary", "LLM", "worst-label")


class _Label(StrEnum):
    CONSISTENT = "Consistent"
    BENIGN = "Benign"
    QUESTIONABLE = "Questionable"
    UNWANTED = "Unwanted"
    INTRINSIC = "Unwanted.Intrinsic"
    EXTRINSIC = "Unwanted.Extrinsic"

    @property
    def badness(self) -> int:
        """Return how bad it is; the worst label of a sentence counts."""
        return min(list(_Label).index(self), list(_Label).index(_Label.UNWANTED))

    @property
    def verdict(self) -> Verdict | None:
        """Return what it means for a claim; None: it has no label."""
        found = {
            _Label.CONSISTENT: Verdict.FULLY_SUPPORTED,
            _Label.BENIGN: None,
            _Label.QUESTIONABLE: Verdict.INCONCLUSIVE,
        }
        return found.get(self, Verdict.NOT_FULLY_SUPPORTED)


_SAID = {
    _Label.CONSISTENT: AnnotatorLabel.FULLY_SUPPORTED,
    _Label.BENIGN: AnnotatorLabel.INSUFFICIENT,
    _Label.QUESTIONABLE: AnnotatorLabel.INCONCLUSIVE,
    _Label.UNWANTED: AnnotatorLabel.NOT_FULLY_SUPPORTED,
    _Label.INTRINSIC: AnnotatorLabel.REFUTED,
    _Label.EXTRINSIC: AnnotatorLabel.INSUFFICIENT,
}
_BENIGN = "claim with benign additions at worst (true, but not in the source): no label"
_UNLABELLED = "claim with a span that has no label: no label"


class _Annotation(RowModel):
    annotator_id: str | None = None
    annotator: str | None = None
    label: list[OneOf[_Label]]
    note: str | None = None
    summary_span: str | None = None
    summary_start: int
    summary_end: int

    @property
    def first(self) -> int:
        return self.summary_start

    @property
    def end(self) -> int:
        return self.summary_end

    @property
    def who(self) -> str:
        return self.annotator_id or self.annotator or "annotator"


class _Sample(RowModel):
    sample_id: int | str
    source: Filled
    summary: Filled
    annotations: list[_Annotation]
    metadata: dict[str, Any] | None = None


class _CsvRow(RowModel):
    source: Filled
    summary: Filled
    LLM: Filled
    worst_label: OneOf[_Label] = Field(alias="worst-label")


class FaithBenchLoader:
    """Reads the batches of FaithBench, or its table with a label a summary."""

    name = "faithbench"
    description = "FaithBench: sentences of summaries, with the spans that annotators marked"
    layout = "batch_N.json or the folder of them (sentences); or FaithBench.csv (whole summaries)"
    source = "github.com/vectara/FaithBench, data_for_release"

    def detect(self, path: Path) -> str | None:
        """By the keys of a sample, or the columns of the table."""
        if path.is_dir():
            batches = _batches(path)
            return None if batches and _is_batch(batches[0]) else "no batch_N.json with samples"
        if _is_batch(path) or set(_CSV) <= (keys_of(path) or frozenset()):
            return None
        return "neither a list of samples with annotations nor a table with worst-label"

    def load(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        """Read it; the summaries of one source belong to one process.

        Raises:
            InputError: It cannot be read; the message names the sample and the key.
        """
        building = Building(path, self.name, "FaithBench", skip_bad=skip_bad)
        if not path.is_dir() and not _is_batch(path):
            for number, (where, row) in enumerate(building.rows(path, _CsvRow), 1):
                self._summary(building, number, row, where)
            return building.finish(description="Summaries with their worst label.")
        batches = _batches(path) if path.is_dir() else [path]
        if not batches:
            raise InputError(f"{path} holds no file batch_N.json.")
        for batch in batches:
            for where, sample in _samples(building, batch):
                self._sample(building, batch, sample, where)
        return building.finish(description="Sentences of summaries with annotated spans.")

    def _summary(self, building: Building, number: int, row: _CsvRow, where: str) -> None:
        process = _process(building, row.source, where)
        about = {"model": row.LLM}
        node = building.answer(process, f"summary/{number}", row.summary, where, metadata=about)
        if row.worst_label is _Label.BENIGN:
            building.count(_BENIGN)
        building.claim(
            where,
            process_id=process,
            claim_id=f"{number}",
            text=row.summary,
            node_id=node,
            label=row.worst_label.verdict,
            label_origin=f"FaithBench, worst label: {row.worst_label}",
        )

    def _sample(self, building: Building, batch: Path, sample: _Sample, where: str) -> None:
        marked = MarkedText(sample.summary, sample.annotations)
        for number, span in enumerate(sample.annotations):
            wrong = marked.why_outside(span)
            if wrong is not None:
                building.fault(where, f"annotations.{number}", wrong)
                return
        process = _process(building, sample.source, where)
        name = f"{_number_of(batch)}-{sample.sample_id}"
        model = (sample.metadata or {}).get("summarizer")
        node = building.answer(
            process, f"summary/{name}", sample.summary, where, metadata={"model": model}
        )
        if marked.unplaced():
            building.count("span that overlaps no sentence", marked.unplaced())
        for sentence, spans in marked.sentences():
            found = [label for one in spans for label in one.label]
            worst = max(found, key=lambda one: one.badness, default=_Label.CONSISTENT)
            label = worst.verdict
            if label is not Verdict.NOT_FULLY_SUPPORTED and not all(one.label for one in spans):
                label = None
                building.count(_UNLABELLED)
            elif worst is _Label.BENIGN:
                building.count(_BENIGN)
            building.claim(
                where,
                process_id=process,
                claim_id=f"{name}-s{sentence.index + 1}",
                text=sentence.text,
                node_id=node,
                label=label,
                label_origin=f"FaithBench, worst label: {_named(found, worst)}",
                labels=_said(spans),
            )


def _process(building: Building, source: str, where: str) -> str:
    return building.process(f"source-{text_key(source)}", {"document/1": source}, where)


def _named(found: list[_Label], worst: _Label) -> str:
    """The worst labels, with the kinds of Unwanted."""
    return ", ".join(sorted({one for one in found if one.badness == worst.badness})) or worst


def _said(spans: tuple[_Annotation, ...]) -> tuple[Annotation, ...]:
    """Return what each annotator said of a sentence: the worst of the labels of their spans."""
    by_annotator: dict[str, list[_Annotation]] = {}
    for one in spans:
        if one.label:
            by_annotator.setdefault(one.who, []).append(one)
    found = []
    for who, marked in by_annotator.items():
        labels = [label for one in marked for label in one.label]
        worst = max(labels, key=lambda one: (one.badness, one is _Label.INTRINSIC,
                                             one is _Label.EXTRINSIC))  # fmt: skip
        notes = [f"{', '.join(one.label)}: {(one.note or '').strip()}" for one in marked]
        found.append(annotation(who, _SAID[worst], "\n".join(notes)))
    return tuple(found)


def _number_of(path: Path) -> str:
    found = _BATCH.search(path.name)
    return found[1] if found else text_key(path.name)


def _batches(folder: Path) -> list[Path]:
    found = [one for one in table_files(folder) if _BATCH.match(one.name)]
    return sorted(found, key=lambda one: int(_number_of(one)))


def _is_batch(path: Path) -> bool:
    if not path.is_file():
        return False
    value = files.first_value(path)
    samples = value.get("samples") if isinstance(value, dict) else None
    first = samples[0] if isinstance(samples, list) and samples else None
    return isinstance(first, dict) and {"source", "summary", "annotations"} <= first.keys()


def _samples(building: Building, path: Path) -> Any:
    value = files.document(path)
    samples = value.get("samples") if isinstance(value, dict) else None
    if not isinstance(samples, list) or not samples:
        raise InputError(f"{path} has no samples under the key 'samples'.")
    for number, one in enumerate(samples):
        where = f"{path.name}, samples[{number}]"
        found = building.check(_Sample, one, where)
        if found is not None:
            yield where, found
