"""The figures of attributions as files: CSV of sentences and of tenths, and a plot as SVG."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from veritrail_graph.evaluation.attribution.corrections import CorrectionScore
from veritrail_graph.evaluation.attribution.linked import TENTHS, LinkAnalysis
from veritrail_graph.evaluation.attribution.score import AttributionScore
from veritrail_graph.evaluation.attribution.setups import Row
from veritrail_graph.evaluation.attribution.study import StudyScore
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.exporters.cells import guarded
from veritrail_graph.graph.model.attribution import Faithfulness

_WIDTH, _HEIGHT, _LEFT, _BASE = 640, 320, 48, 270
_COLOURS = {Faithfulness.FAITHFUL: "#1b7837", Faithfulness.UNFAITHFUL: "#b2182b"}


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
        texts["tenths.svg"] = _plot(analysis)
    return _write(folder, texts)


def write_set_ups(folder: Path, rows: Sequence[Row]) -> list[Path]:
    """Write `set-ups.csv`, a row each, and `labels.csv`, a row for each judgement.

    Returns:
        The files; those that were there are replaced.

    Raises:
        InputError: They cannot be written.
    """
    return _write(
        folder, {"set-ups.csv": _csv(_set_ups(rows)), "labels.csv": _csv(_judgements(rows))}
    )


def write_corrections(folder: Path, found: Sequence[CorrectionScore], ranks: int) -> list[Path]:
    """Write `corrections.csv`, a row for each model and mode.

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
    return _write(folder, {"corrections.csv": _csv([columns, *rows])})


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


def _plot(analysis: LinkAnalysis) -> str:
    """Bars of the share of each group in each tenth, side by side."""
    shares = {}
    for label in Faithfulness:
        counts = analysis.tenths(label)
        shares[label] = [count / (sum(counts) or 1) for count in counts]
    most = max(*(max(each) for each in shares.values()), 0.01)
    step = (_WIDTH - _LEFT - 16) / TENTHS
    parts = []
    for number, (label, each) in enumerate(shares.items()):
        for place, value in enumerate(each):
            height = 200 * value / most
            left = _LEFT + step * (place + 0.1 + 0.4 * number)
            title = f"{label.lower()}-linked, tenth {place + 1}: {100 * value:.1f} %"
            parts.append(
                f'<rect x="{left:.1f}" y="{_BASE - height:.1f}" width="{0.38 * step:.1f}" '
                f'height="{height:.1f}" fill="{_COLOURS[label]}"><title>{title}</title></rect>'
            )
        parts.append(
            f'<rect x="{_LEFT + 200 * number}" y="14" width="12" height="12" '
            f'fill="{_COLOURS[label]}"/><text x="{_LEFT + 18 + 200 * number}" y="25">'
            f"{label.lower()}-linked ({sum(analysis.tenths(label))})</text>"
        )
    parts += [
        f'<text x="{_LEFT + step * (place + 0.5):.1f}" y="{_BASE + 18}" text-anchor="middle">'
        f"{place + 1}</text>"
        for place in range(TENTHS)
    ]
    parts += [
        f'<path d="M{_LEFT} 60V{_BASE}H{_WIDTH - 16}" fill="none" stroke="#555"/>',
        f'<text x="{_LEFT - 6}" y="{_BASE - 196}" text-anchor="end">{100 * most:.0f} %</text>',
        f'<text x="{_LEFT - 6}" y="{_BASE}" text-anchor="end">0</text>',
        f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 10}" text-anchor="middle">'
        "tenth of the source text</text>",
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        'aria-label="Share of linked source sentences in each tenth of the source text" '
        'font-family="sans-serif" font-size="13">\n'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )
