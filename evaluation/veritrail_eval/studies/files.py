"""Files of a study: the answers as CSV, and annotations as JSON Lines of attributions.

Source: Error-tolerant attribution C (label and time a sentence); docs/evaluation-figures.md.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

from veritrail_eval.studies.model import ReaderLabel, Study, StudyAnswer, StudyTask
from veritrail_graph.graph.exporters.cells import guarded
from veritrail_graph.graph.model.attribution import AttributedSentence
from veritrail_graph.graph.model.noun import Place

CSV_TYPE = "text/csv; charset=utf-8"
GOLD_TYPE = "application/jsonl; charset=utf-8"

COLUMNS = (
    "study_id", "process_id", "reader", "document", "mode", "sentence", "label", "seconds", "note",
    "times_paused", "answered_at", "idle_seconds", "unfounded",
)  # fmt: skip


def csv_of(study: Study, answers: Iterable[StudyAnswer]) -> str:
    """The answers as CSV (RFC 4180), a row each; seconds to the thousandth.

    `idle_seconds` is not among `seconds`: the timer ran, but the page was closed or the reader did
    nothing.
    """
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for one in answers:
        writer.writerow(
            [
                study.study_id,
                study.process_id,
                guarded(one.reader),
                guarded(one.node_id),
                one.mode.value,
                one.sentence,
                one.label.value if one.label else "",
                f"{one.seconds:.3f}",
                guarded(one.note),
                one.pauses,
                one.answered_at or "",
                f"{one.idle_seconds:.3f}",
                guarded(one.unfounded),
            ]
        )
    return file.getvalue()


def gold_of(study: Study, answers: Iterable[StudyAnswer]) -> str:
    """Annotations of one reader, a line each; sentences that the reader is unsure of are left out.

    Where readers only judge, there is nothing to write: a sentence without marks would look like
    one that rests on nothing.
    """
    if study.task is not StudyTask.ANNOTATE:
        return ""
    lines = []
    for one in answers:
        if one.label is None or one.label is ReaderLabel.UNSURE:
            continue
        attributed = list(map(_mark, one.marks))
        row = {
            "id": [one.node_id, one.sentence],
            "attributed": attributed,
            "label": one.label.value,
        }
        if propositions := _propositions(one):
            row["propositions"] = propositions
        lines.append(json.dumps(row, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)


def _mark(mark: AttributedSentence) -> dict[str, Any]:
    return {
        "node_id": mark.node_id,
        "sentence": mark.sentence,
        "text": mark.text,
        "start": mark.start,
        "categories": [category.value for category in mark.categories],
    }


def _propositions(answer: StudyAnswer) -> list[dict[str, Any]]:
    """The parts that a reader named, each with its marks; none: the sentence is one whole.

    Marks without a part come first, as a proposition without spans: what is left of the sentence
    rests on them. Words that rest on nothing are the last proposition.
    """
    part_of = {(one.node_id, one.sentence): one.spans for one in answer.parts if one.spans}
    whole: list[dict[str, Any]] = []
    by_part: dict[tuple[Place, ...], list[dict[str, Any]]] = {}
    for mark in answer.marks:
        spans = part_of.get((mark.node_id, mark.sentence))
        (by_part.setdefault(tuple(spans), []) if spans else whole).append(_mark(mark))
    if answer.unfounded_spans:
        by_part.setdefault(tuple(answer.unfounded_spans), [])
    if not by_part:
        return []
    named: list[dict[str, Any]] = [
        {"spans": [list(span) for span in spans], "attributed": marks}
        for spans, marks in by_part.items()
    ]
    return [{"attributed": whole}, *named] if whole else named
