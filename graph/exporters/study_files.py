"""Files of a study: the answers as CSV, and annotations as JSON Lines of attributions.

Source: Error-tolerant attribution C (label and time a sentence); docs/attribution-figures.md.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable

from veritrail_graph.graph.exporters.cells import guarded
from veritrail_graph.graph.model.study import ReaderLabel, Study, StudyAnswer, StudyTask

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
        attributed = [
            {
                "node_id": mark.node_id,
                "sentence": mark.sentence,
                "text": mark.text,
                "start": mark.start,
                "categories": [category.value for category in mark.categories],
            }
            for mark in one.marks
        ]
        row = {
            "id": [one.node_id, one.sentence],
            "attributed": attributed,
            "label": one.label.value,
        }
        if one.unfounded_spans:  # what is left of the sentence rests on what is marked
            nothing = {"spans": [list(span) for span in one.unfounded_spans], "attributed": []}
            row["propositions"] = [{"attributed": attributed}, nothing] if attributed else [nothing]
        lines.append(json.dumps(row, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)
