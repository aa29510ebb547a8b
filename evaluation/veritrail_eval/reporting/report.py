"""The report of an evaluation as data: what HTML, Markdown, CSV and JSON show.

Source: VeriTrail 4.3, D, E.1, E.3, E.4, G, H.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veritrail_eval.figures.confusion import CLASSES
from veritrail_eval.figures.figure import Figure, with_reasons
from veritrail_eval.reporting.costs import (
    CostRow,
    cost_row,
    dataset_costs,
    human_figures,
)
from veritrail_eval.reporting.failures import FailureAttribution, failure_attribution
from veritrail_eval.reporting.grids import MethodGrids, method_grids
from veritrail_eval.reporting.headline import headline
from veritrail_eval.reporting.options import ReportOptions
from veritrail_eval.reporting.review import ReviewCounts, read_kept_review
from veritrail_eval.reporting.run_folder import (
    ConfigurationRun,
    RunFolder,
    read_run_folder,
)
from veritrail_eval.reporting.score_tables import (
    Compared,
    ScoredRun,
    ScoreTable,
    best_of_each_method,
    score_table,
    with_scores,
)
from veritrail_eval.reporting.soft_labels import SoftLabels, soft_labels
from veritrail_eval.reporting.stages import ErrorStages, error_stages
from veritrail_eval.runs.record import JudgedDataset
from veritrail_graph.graph.errors import InputError, shown

Q_OF_ABLATION = 1
"""The q of VeriTrail that appendix E.1 compares."""
TRACING, TRACING_RETRIEVAL, RETRIEVAL = "veritrail", "vt_rag", "rag"
"""The methods of appendix E.1, by their names in a matrix."""


@dataclass(frozen=True)
class DatasetReport:
    """The report on a data set.

    Attributes:
        dataset: The data set.
        runs: Its configurations.
        headline: Which configuration was best, in plain words.
        every: Hard prediction of all configurations.
        best: The best configuration of each method, compared with each other only.
        soft: Soft prediction of all configurations that give probabilities.
        soft_best: The best of each method, by macro F1.
        soft_labels: Probabilities beside several annotators; None: no claim has several.
        scoreless: Configurations that give no probabilities.
        ablation: Tracing, retrieval and both (E.1); None: not all three are there.
        grids: Heat maps.
        costs: Cost of each configuration.
        human: What a person's judgement of a claim costs; None: it is not known.
        stages: Error stages; None: no method walks.
        failures: The agents and steps that made runs fail; None: no mistakes of agents are noted.
        review: Causes that people found for errors; None: no review was read.
    """

    dataset: JudgedDataset
    runs: Sequence[ConfigurationRun]
    headline: str
    every: ScoreTable
    best: ScoreTable
    soft: ScoreTable
    soft_best: ScoreTable
    soft_labels: SoftLabels | None
    scoreless: Sequence[ConfigurationRun]
    ablation: ScoreTable | None
    grids: Sequence[MethodGrids]
    costs: Sequence[CostRow]
    human: Figure | None
    stages: ErrorStages | None
    failures: FailureAttribution | None
    review: ReviewCounts | None

    @property
    def labels(self) -> dict[str, int]:
        """Return how many claims have each label."""
        found = Counter(claim.label for claim in self.dataset.claims)
        return {name.value: found[name] for name in CLASSES}

    @property
    def indicative(self) -> list[ConfigurationRun]:
        """Configurations that no model judged."""
        return [run for run in self.runs if run.indicative]

    def rows(self) -> list[dict[str, Any]]:
        """Every configuration with its figures, as JSON."""
        best = {row.run.configuration_id for row in self.best.rows}
        soft = {row.run.configuration_id: row for row in self.soft.rows}
        costs = {row.run.configuration_id: row for row in self.costs}
        return [
            _configuration_json(
                row,
                soft.get(row.run.configuration_id),
                costs[row.run.configuration_id],
                is_best=row.run.configuration_id in best,
            )
            for row in self.every.rows
        ]


@dataclass(frozen=True)
class EvaluationReport:
    """A report.

    Attributes:
        folder: What it is made from.
        options: How it was made.
        datasets: Data set by data set.
    """

    folder: RunFolder
    options: ReportOptions
    datasets: Sequence[DatasetReport]

    def configurations(self) -> list[dict[str, Any]]:
        """One row for each data set and configuration, as JSON."""
        return [row for one in self.datasets for row in one.rows()]

    def as_json(self) -> dict[str, Any]:
        """The report as JSON: `report.json`."""
        record = self.folder.record
        return {
            "format": "veritrail.evaluation-report/1",
            "name": record.name,
            "options": self.options.json_object(),
            "lines_left_out": {"stale": self.folder.stale, "foreign": self.folder.foreign},
            "datasets": [_dataset_json(one) for one in self.datasets],
            "configurations": self.configurations(),
        }


def make_report(folder: Path, options: ReportOptions) -> EvaluationReport:
    """Make a report from the folder of a run.

    Args:
        folder: Where `veritrail eval run` wrote.
        options: How figures are made.

    Raises:
        InputError: The folder holds no run, a line of it is broken, or an option is wrong.
    """
    run = read_run_folder(folder)
    wanted = _wanted(run, options.only)
    names = [one.name for one in run.record.datasets]
    human = dataset_costs(options.human_cost, names, "--human-cost")
    extraction = dataset_costs(options.extraction_cost, names, "--extraction-cost")
    review = read_kept_review(folder, run)
    return EvaluationReport(
        run,
        options,
        [
            _dataset_report(
                dataset,
                [one for one in run.of(dataset) if one.configuration.label in wanted],
                options,
                human_figures(human, dataset.name),
                extraction.get(dataset.name),
                review.get(dataset.name),
            )
            for dataset in run.record.datasets
        ],
    )


def _wanted(run: RunFolder, only: Sequence[str]) -> set[str]:
    """The labels of the methods that a report compares.

    Raises:
        InputError: No method of the run has such a label.
    """
    known = dict.fromkeys(one.configuration.label for one in run.runs)
    for name in only:
        if name not in known:
            raise InputError(
                f"No method of the run is labelled {shown(name)}; there are {', '.join(known)}."
            )
    return set(only or known)


def _dataset_report(
    dataset: JudgedDataset,
    runs: Sequence[ConfigurationRun],
    options: ReportOptions,
    human: Figure | None,
    extraction: float | None,
    review: ReviewCounts | None,
) -> DatasetReport:
    rule, how = options.inconclusive, options.resampling
    every = score_table(runs, rule)
    chosen, tied = best_of_each_method(every)
    best = score_table(chosen, rule, how, tied)
    soft_runs = with_scores(runs)
    soft_chosen, soft_tied = best_of_each_method(score_table(soft_runs, rule))
    failures = failure_attribution(runs, how)
    summary = headline(dataset.name, every, best, rule, how)
    return DatasetReport(
        dataset=dataset,
        runs=runs,
        headline=f"{summary} {failures.summary}".rstrip() if failures else summary,
        every=every,
        best=best,
        soft=score_table(soft_runs, rule),
        soft_best=score_table(soft_chosen, rule, how, soft_tied, soft=True),
        soft_labels=soft_labels(runs, how),
        scoreless=[run for run in runs if run not in soft_runs],
        ablation=_ablation(runs, options),
        grids=method_grids(every),
        costs=[cost_row(run, extraction) for run in runs],
        human=human,
        stages=error_stages(runs, how),
        failures=failures,
        review=review,
    )


def _ablation(runs: Sequence[ConfigurationRun], options: ReportOptions) -> ScoreTable | None:
    """Tracing, retrieval and both beside each other, by k. Source: VeriTrail E.1.

    Of the first two those with the other settings of the third, such as model, prompts, samples
    and limits, where there are some: what is compared is how evidence is found.
    """
    by_method = {
        name: [run for run in runs if run.configuration.method == name]
        for name in (TRACING, TRACING_RETRIEVAL, RETRIEVAL)
    }
    if not all(by_method.values()):
        return None
    same = [_apart_from_retrieval(run) for run in by_method[TRACING_RETRIEVAL]]
    for name, every in by_method.items():
        by_method[name] = [run for run in every if _apart_from_retrieval(run) in same] or every
    tracing = by_method[TRACING]
    narrow = [one for one in tracing if one.configuration.parameters.get("q") == Q_OF_ABLATION]
    ks = {_k(run) for run in by_method[TRACING_RETRIEVAL]}
    retrieval = [run for run in by_method[RETRIEVAL] if _k(run) in ks] or by_method[RETRIEVAL]
    others = [*retrieval, *by_method[TRACING_RETRIEVAL]]
    ordered = sorted(others, key=lambda run: (str(type(_k(run))), _k(run)))
    return score_table([*(narrow or tracing), *ordered], options.inconclusive)


def _apart_from_retrieval(run: ConfigurationRun) -> dict[str, Any]:
    """The parameters of a configuration that say nothing of how evidence is found."""
    own = ("q", "k", "embedding", "sources")
    return {name: one for name, one in run.configuration.parameters.items() if name not in own}


def _k(run: ConfigurationRun) -> Any:
    k = run.configuration.parameters.get("k", 0)
    return k if isinstance(k, int | float) else str(k)


def _configuration_json(
    row: ScoredRun, soft: ScoredRun | None, cost: CostRow, *, is_best: bool
) -> dict[str, Any]:
    run, figures = row.run, row.figures
    shown = {name: one for name, one in figures.items() if name != "cost_per_claim"}
    if soft is not None:
        shown["auroc"] = soft.figures["auroc"]
    shown |= {
        "cost_per_claim": cost.total,
        "processing_cost": cost.cost.processing,
        "preparation_cost": cost.cost.one_time,
        "extraction_cost": cost.cost.extraction,
        "uncached_cost": cost.cost.uncached,
        "calls_per_claim": cost.calls,
        "share_of_nodes": cost.share_verified,
        "spent_usd": cost.spent,
    }
    document = {
        "dataset": run.dataset.name,
        "configuration_id": run.configuration_id,
        "method": run.configuration.method,
        "label": run.configuration.label,
        "title": run.title,
        "parameters": dict(run.configuration.parameters),
        "indicative": run.indicative,
        "judge": run.judge or None,
        "best_of_method": is_best,
        "claims": row.score.claims,
        "scored": len(row.score.outcomes),
        "excluded": row.score.excluded.as_json(),
        "endings": dict(run.endings()),
        "macro_f1": shown["macro_f1"].value,
        "balanced_accuracy": shown["balanced_accuracy"].value,
        "precision": {name.value: shown[f"precision.{name}"].value for name in CLASSES},
        "recall": {name.value: shown[f"recall.{name}"].value for name in CLASSES},
        "auroc": shown["auroc"].value,
        "auroc_claims": len(soft.score.scored_softly) if soft is not None else 0,
        **{name: shown[name].value for name in _COSTS},
        "finished": cost.cost.finished,
        "unpriced": cost.cost.unpriced,
        "cached": cost.cost.cached,
    }
    return with_reasons(document, shown)


_COSTS = (
    "cost_per_claim", "processing_cost", "preparation_cost", "extraction_cost", "uncached_cost",
    "calls_per_claim", "share_of_nodes", "spent_usd",
)  # fmt: skip


def _hard_json(table: ScoreTable) -> dict[str, Any]:
    return {
        "inconclusive_claims": table.inconclusive,
        "rows": [_hard_row(row) for row in table.rows],
        "comparisons": [_compared_json(one) for one in table.comparisons],
    }


def _hard_row(row: ScoredRun) -> dict[str, Any]:
    figures = row.score.confusion.figures()
    document: dict[str, Any] = {
        "configuration_id": row.run.configuration_id,
        "title": row.run.title,
        "tied": row.tied,
        "scored": len(row.score.outcomes),
        "excluded": row.score.excluded.as_json(),
        **{name: figures[name].value for name in ("macro_f1", "balanced_accuracy")},
        "precision": {name.value: figures[f"precision.{name}"].value for name in CLASSES},
        "recall": {name.value: figures[f"recall.{name}"].value for name in CLASSES},
    }
    found = {name: one for name, one in row.intervals.items() if name in figures}
    if found:
        document["intervals"] = {name: one.as_json() for name, one in found.items()}
        document["undefined_resamples"] = {
            name: one.undefined for name, one in found.items() if one.undefined
        }
    return with_reasons(document, figures)


def _compared_json(one: Compared) -> dict[str, Any]:
    paired = one.paired
    document = {
        "configurations": [one.first.run.configuration_id, one.second.run.configuration_id],
        "claims": paired.claims,
        "macro_f1_difference": paired.difference.value,
        "interval": paired.interval.as_json(),
        "beyond_chance": paired.is_beyond_chance,
        "b": paired.mcnemar.b,
        "c": paired.mcnemar.c,
        "p_value": paired.mcnemar.p_value.value,
        "test": paired.mcnemar.test,
    }
    figures = {"macro_f1_difference": paired.difference, "p_value": paired.mcnemar.p_value}
    return with_reasons(document, figures)


def _soft_json(table: ScoreTable) -> dict[str, Any]:
    rows = []
    for row in table.rows:
        figure = row.score.auroc
        document: dict[str, Any] = {
            "configuration_id": row.run.configuration_id,
            "title": row.run.title,
            "auroc": figure.value,
            "auroc_claims": len(row.score.scored_softly),
        }
        if "auroc" in row.intervals:
            document["interval"] = row.intervals["auroc"].as_json()
        rows.append(with_reasons(document, {"auroc": figure}))
    return {
        "claims_without_verdict": table.open_ended,
        "claims_without_score": table.unscored,
        "rows": rows,
    }


def _dataset_json(one: DatasetReport) -> dict[str, Any]:
    dataset = one.dataset
    return {
        "name": dataset.name,
        "summary": one.headline,
        "claims": len(dataset.claims),
        "labels": one.labels,
        "left_out": dataset.left_out,
        "sample": dataset.sample,
        "remarks": list(dataset.remarks),
        "best": _hard_json(one.best),
        "soft": _soft_json(one.soft),
        "soft_best": _soft_json(one.soft_best),
        "ablation": None if one.ablation is None else _hard_json(one.ablation),
        "grids": [
            {
                "label": grid.label,
                "figure": grid.grid.figure,
                "across": grid.grid.across,
                "down": grid.grid.down or None,
                "columns": list(grid.grid.columns),
                "rows": list(grid.grid.rows) if grid.grid.down else [],
                "values": [list(row) for row in grid.grid.values],
                "fixed": dict(grid.fixed),
            }
            for grids in one.grids
            for grid in grids.shown
        ],
        "human_cost_per_claim": one.human.value if one.human else None,
        "error_stages": None if one.stages is None else _stages_json(one.stages),
        "soft_labels": None if one.soft_labels is None else one.soft_labels.as_json(),
        "failures": None if one.failures is None else one.failures.as_json(),
        "review": None if one.review is None else one.review.as_json(),
    }


def _stages_json(stages: ErrorStages) -> Mapping[str, Any]:
    labelled = {
        name: {
            "claims": one.claims,
            "found": one.found,
            "alone": one.alone,
            "unlocated": one.unlocated,
            "stages_reported": one.reported.value,
            "share": one.share.value,
            "interval": one.interval.as_json(),
            "share_alone": one.share_alone.value,
            "interval_alone": one.interval_alone.as_json(),
            "share_step": None if one.share_step is None else one.share_step.value,
            "interval_step": None if one.interval_step is None else one.interval_step.as_json(),
        }
        for name, one in stages.labelled.items()
    }
    return {
        **stages.document,
        "unlocated": stages.localization.unlocated,
        "labelled": labelled or None,
    }
