"""The figures of attributions as files: tables as CSV, and plots as SVG."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from veritrail_eval.attribution.corrections import CorrectionScore
from veritrail_eval.attribution.linked import TENTHS, LinkAnalysis
from veritrail_eval.attribution.plots import (
    corrections_plot,
    ranks_plot,
    set_ups_plot,
    tenths_plot,
)
from veritrail_eval.attribution.score import AttributionScore
from veritrail_eval.attribution.setups import Row
from veritrail_eval.attribution.study import StudyScore
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.exporters.cells import guarded
from veritrail_graph.graph.model.attribution import Faithfulness


def write_tables(
    folder: Path,
    score: AttributionScore,
    analysis: LinkAnalysis | None,
    figures: Mapping[str, Any],
) -> list[Path]:
    """Write `figures.csv` and `sentences.csv`, and of an analysis `tenths.csv` and `tenths.svg`.

    Args:
        folder: Where to.
        score: The figures of each sentence.
        analysis: Where unfaithful sentences come from; None: it was not asked for.
        figures: Every figure, as the JSON has them.

    Returns:
        The files; those that were there are replaced.

    Raises:
        InputError: They cannot be written.
    """
    rows = [("figure", "value"), *_flat(figures)]
    texts = {"figures.csv": _csv(rows), "sentences.csv": _csv(_sentences(score))}
    if analysis is not None:
        texts["tenths.csv"] = _csv(_tenths(analysis))
        texts["tenths.svg"] = tenths_plot(analysis)
    return _write(folder, texts)


def write_set_ups(folder: Path, rows: Sequence[Row]) -> list[Path]:
    """Write `set-ups.csv`, a row each, its plot, and `labels.csv`, a row for each judgement.

    Returns:
        The files; those that were there are replaced.

    Raises:
        InputError: They cannot be written.
    """
    texts = {
        "set-ups.csv": _csv(_set_ups(rows)),
        "labels.csv": _csv(_judgements(rows)),
        "set-ups.svg": set_ups_plot(rows),
    }
    return _write(folder, texts)


def write_corrections(folder: Path, found: Sequence[CorrectionScore], ranks: int) -> list[Path]:
    """Write `corrections.csv`, a row for each model and mode, and plots of outcomes and ranks.

    Returns:
        The files; those that were there are replaced.

    Raises:
        InputError: They cannot be written.
    """
    documents = [one.as_json(ranks) for one in found]
    columns = [name for name in documents[0] if name != "reasons"]
    rows = [
        [guarded(one[name]) if name == "model" else one[name] for name in columns]
        for one in documents
    ]
    texts = {
        "corrections.csv": _csv([columns, *rows]),
        "corrections.svg": corrections_plot(found),
        "ranks.svg": ranks_plot(found, ranks),
    }
    return _write(folder, texts)


def write_study(folder: Path, score: StudyScore) -> list[Path]:
    """Write `study.csv`, a row for each mode.

    Returns:
        The files; those that were there are replaced.

    Raises:
        InputError: They cannot be written.
    """
    documents = [one.as_json() for one in score.modes]
    columns = [name for name in documents[0] if name != "reasons"]
    rows = [[one[name] for name in columns] for one in documents]
    return _write(folder, {"study.csv": _csv([columns, *rows])})


def _write(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    return [folder / name for name in texts]


def _set_ups(rows: Sequence[Row]) -> Iterator[Sequence[object]]:
    columns = ("set_up", "documents", "balanced_accuracy", "sentences", "not_judged")
    yield columns
    for row in rows:
        document = row.as_json()
        yield [document[name] for name in columns]


def _judgements(rows: Sequence[Row]) -> Iterator[Sequence[object]]:
    yield ("set_up", "documents", "id", "label", "judged_label", "score", "status", "reason")
    for row in rows:
        for one in row.judged:
            yield (
                row.set_up.value,
                row.size,
                guarded(one.case.sentence_id),
                one.case.label.value,
                one.label,
                one.score,
                one.status.value,
                guarded(one.reason or ""),
            )


def _flat(figures: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, object]]:
    """Figures with the path of each, such as `comparison.macro_f1.p_value`.

    Reasons, and the tenths, which have a file of their own, are left out; so are texts.
    """
    for name, value in figures.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.") if name != "reasons" else ()
        elif isinstance(value, bool):
            yield f"{before}{name}", "yes" if value else "no"
        elif value is None or isinstance(value, int | float):
            yield f"{before}{name}", value


def _sentences(score: AttributionScore) -> Iterator[Sequence[object]]:
    yield ("id", "gold", "predicted", "precision", "recall", "f1", "iou", "label", "is_missing")
    lacking = set(score.missing)
    for name, one in score.gold.sentences.items():
        other = score.predicted.sentences.get(name)
        iou = score.ious[name]
        yield (
            guarded(name),
            len(one.sources),
            len(other.sources) if other else 0,
            *score.overlaps[name],
            iou,
            one.known_label,
            "yes" if name in lacking else "no",
        )


def _tenths(analysis: LinkAnalysis) -> Iterator[Sequence[object]]:
    yield ("tenth", *(f"{label.lower()}_linked" for label in Faithfulness))
    columns = [analysis.tenths(label) for label in Faithfulness]
    yield from ((place + 1, *(one[place] for one in columns)) for place in range(TENTHS))


def _csv(rows: Iterable[Sequence[object]]) -> str:
    """The text of a table; None is an empty cell."""
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue()
