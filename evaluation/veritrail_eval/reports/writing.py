"""The files of a report of an evaluation, written into the folder of its run.

Source: ours (docs/evaluation.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from veritrail_eval.figures.confusion import CLASSES
from veritrail_eval.reporting.options import ReportOptions
from veritrail_eval.reporting.report import (
    DatasetReport,
    EvaluationReport,
    make_report,
)
from veritrail_eval.reporting.run_folder import claim_names
from veritrail_eval.reports.parts import Section
from veritrail_eval.reports.sections import facts_of, sections_of
from veritrail_eval.whole_file import make_folder
from veritrail_graph.api.show.rendering import environment
from veritrail_graph.api.show.reports.csv_report import csv_line
from veritrail_graph.api.show.reports.data import Made
from veritrail_graph.api.show.reports.files import as_bytes, whole_file
from veritrail_graph.api.show.reports.html import frame
from veritrail_graph.api.show.reports.markdown import templates
from veritrail_graph.graph.counted import counted

HTML, MARKDOWN, FIGURES, VERDICTS, JSON = (
    "report.html", "report.md", "figures.csv", "verdicts.csv", "report.json",
)  # fmt: skip

_HERE = "veritrail_eval"  # the package with the templates and styles
_ONE_NUMBER = (
    "macro_f1", "balanced_accuracy", "auroc", "cost_per_claim", "processing_cost",
    "preparation_cost", "extraction_cost", "uncached_cost", "calls_per_claim", "share_of_nodes",
    "spent_usd",
)  # fmt: skip
_COUNTS = ("claims", "scored", "auroc_claims", "finished", "unpriced", "cached")
_EXCLUDED = ("no_verdict", "inconclusive")
_ENDINGS = ("undecided", "failed", "over_budget", "cancelled", "not_judged")
FIGURE_COLUMNS = (
    "dataset", "configuration_id", "method", "label", "title", "parameters", "indicative",
    "best_of_method", *_COUNTS, *_EXCLUDED, *_ENDINGS, *_ONE_NUMBER,
    *(f"{kind}_{name.value}" for kind in ("precision", "recall") for name in CLASSES), "reasons",
    "judge",
)  # fmt: skip
VERDICT_COLUMNS = ("method", "claim_id", "label", "verdict", "score", "cost_usd")


def write_report(folder: Path, options: ReportOptions, into: Path | None = None) -> dict[str, Any]:
    """Make a report and write its files, each whole or not at all.

    Args:
        folder: Where `veritrail eval run` wrote.
        options: How figures are made.
        into: Where its files are written; None: into the folder.

    Returns:
        The report as JSON, with `report` and `files`: the paths that were written.

    Raises:
        InputError: The folder holds no run, an option is wrong, or a file cannot be written.
    """
    report = make_report(folder, options)
    document = report.as_json()
    into = into or folder
    make_folder(into)
    _write(into / FIGURES, _figures(report))
    _write(into / VERDICTS, _verdicts(report))
    shown = _shown(report)
    html = environment(_HERE, is_file=True).get_template("evaluation.html")
    look = frame("style.css", "report.css", "evaluation.css", packages=(_HERE,))
    _write(into / HTML, [html.render(shown | look)])
    _write(into / MARKDOWN, [templates(_HERE).get_template("evaluation.md").render(shown)])
    _write(into / JSON, [json.dumps(document, ensure_ascii=False, indent=1)])
    names = HTML, MARKDOWN, FIGURES, VERDICTS, JSON
    return {
        "directory": str(into),
        "report": str(into / HTML),
        "files": [str(into / name) for name in names],
        **document,
    }


def options_of(folder: Path) -> ReportOptions:
    """The options of the report that a folder holds; the defaults where it holds none."""
    try:
        known = json.loads((folder / JSON).read_bytes())
        return ReportOptions.model_validate(known["options"], strict=False)
    except (OSError, ValueError, KeyError, TypeError, ValidationError):
        return ReportOptions()


def _write(path: Path, pieces: Any) -> None:
    with whole_file(path) as file:
        for piece in pieces:
            file.write(as_bytes(piece))


@dataclass(frozen=True)
class _ShownDataset:
    """A data set as templates read it."""

    name: str
    description: str | None
    licence: str | None
    headline: str
    facts: list[tuple[str, str]]
    remarks: list[str]
    sections: list[Section]


@dataclass(frozen=True)
class _Material:
    """The data for the frame of a file."""

    made: Made = field(default_factory=Made)


def _shown(report: EvaluationReport) -> dict[str, Any]:
    """Return what both templates know."""
    material = _Material()
    return {
        "material": material,
        "made": material.made,
        "name": report.folder.record.name,
        "configurations": len(report.folder.record.configurations),
        "datasets": [_dataset(one, report) for one in report.datasets],
        "indicative": _indicative(report),
        "left_out": _lines(report),
    }


def _dataset(one: DatasetReport, report: EvaluationReport) -> _ShownDataset:
    return _ShownDataset(
        one.dataset.name,
        one.dataset.description,
        one.dataset.licence,
        one.headline,
        facts_of(one),
        list(one.dataset.remarks),
        sections_of(one, report.options.inconclusive),
    )


def _indicative(report: EvaluationReport) -> str:
    """Return how many configurations no model judged; empty: none."""
    every = {one.configuration_id for one in report.folder.runs}
    found = {one.configuration_id for one in report.folder.runs if one.indicative}
    if not found:
        return ""
    if found == every:
        return "All configurations are indicative."
    return f"{len(found):,} of {len(every):,} configurations are indicative."


def _lines(report: EvaluationReport) -> list[str]:
    """Return which lines of the outcomes do not count."""
    stale, foreign = report.folder.stale, report.folder.foreign
    found = []
    if unnoted := sum(one.unnoted for one in report.folder.runs):
        found.append(
            f"{_outcomes(unnoted)} of a version that did not note who judged: whether one judge "
            "gave all of them is not known. They count."
        )
    if stale:
        found.append(
            f"{_outcomes(stale)} about claims or processes that have changed since; such outcomes "
            "do not count."
        )
    if foreign:
        found.append(
            f"{_outcomes(foreign)} about data sets, configurations or claims that are not in the "
            "matrix of the last run, such as those of another matrix in the same folder; such "
            "outcomes do not count."
        )
    return found


def _outcomes(count: int) -> str:
    return f"{counted(count, 'outcome')} {'is' if count == 1 else 'are'}"


def _figures(report: EvaluationReport) -> Iterator[str]:
    """`figures.csv`: one row a data set and configuration."""
    yield csv_line(FIGURE_COLUMNS)
    for row in report.configurations():
        cells: dict[str, Any] = {**row, **_cells(row)}
        yield csv_line([cells.get(column) for column in FIGURE_COLUMNS])


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    classes = {
        f"{kind}_{name}": value
        for kind in ("precision", "recall")
        for name, value in row[kind].items()
    }
    return {
        "parameters": json.dumps(row["parameters"], ensure_ascii=False),
        **{name: row["excluded"][name] for name in _EXCLUDED},
        **{name: row["endings"].get(name, 0) for name in _ENDINGS},
        **classes,
        "reasons": "; ".join(
            f"{name}: {reason}" for name, reason in row.get("reasons", {}).items()
        ),
    }


def _verdicts(report: EvaluationReport) -> Iterator[str]:
    """`verdicts.csv`, as `veritrail eval score` reads it.

    With several data sets methods and claims carry the data set's name, so that the figures of
    each data set stay apart.
    """
    several = len(report.datasets) > 1
    titles = _titles(report)
    yield csv_line(VERDICT_COLUMNS)
    for run in report.folder.runs:
        names = claim_names(run.dataset)
        prefix = f"{run.dataset.name}: " if several else ""
        for claim, outcome in run.pairs():
            yield csv_line(
                [
                    f"{prefix}{titles[run.configuration_id]}",
                    f"{prefix}{names[claim.key]}",
                    claim.label.value,
                    outcome.verdict.value if outcome and outcome.verdict else None,
                    outcome.score if outcome else None,
                    outcome.usage.cost_usd if outcome else None,
                ]
            )


def _titles(report: EvaluationReport) -> dict[str, str]:
    """The title of each configuration, with its id where two titles are the same."""
    every = report.folder.record.configurations
    titles = [one.title for one in every]
    return {
        one.configuration_id: one.title
        if titles.count(one.title) == 1
        else f"{one.title} [{one.configuration_id}]"
        for one in every
    }
