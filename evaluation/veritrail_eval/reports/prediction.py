"""The sections on hard and soft prediction. Source: VeriTrail 4.3, E.1, E.3."""

from __future__ import annotations

from veritrail_eval.figures.confusion import SUPPORTED, UNSUPPORTED
from veritrail_eval.figures.options import Inconclusive
from veritrail_eval.reporting.report import DatasetReport
from veritrail_eval.reporting.score_tables import ScoreTable
from veritrail_eval.reports.parts import (
    DASH,
    Cell,
    Section,
    ShownTable,
    claims_words,
    named,
    reasons_of,
    shown,
    some,
    span_of,
)

HARD = {
    "macro_f1": "Macro F1",
    "balanced_accuracy": "Bal. acc.",
    f"precision.{SUPPORTED}": "Precision FS",
    f"recall.{SUPPORTED}": "Recall FS",
    f"precision.{UNSUPPORTED}": "Precision NFS",
    f"recall.{UNSUPPORTED}": "Recall NFS",
}
"""The columns of the paper's Table 1, by figure."""

RULES = {
    Inconclusive.ANY: "leaves every method of the table",
    Inconclusive.OWN: "leaves only the method that calls it so",
    Inconclusive.NOT_SUPPORTED: "counts as Not Fully Supported",
    Inconclusive.CORRECT: "counts as right",
    Inconclusive.INCORRECT: "counts as wrong",
}


def hard_section(report: DatasetReport, rule: Inconclusive) -> Section:
    """Hard prediction: the best of each method, how they compare, and all configurations."""
    words = [
        "Macro F1 and balanced accuracy weigh both classes equally. FS is Fully Supported, NFS Not "
        "Fully Supported; the highest value of each column is bold.",
        f"A claim that is called Inconclusive {RULES[rule]}. The best configuration of each method "
        "is the one with the highest macro F1 among all configurations; as it was chosen on these "
        "claims, a method with many configurations is a little flattered.",
    ]
    tables = [
        _hard_table(report.best, "Hard prediction: the best configuration of each method", rule)
    ]
    if report.best.comparisons:
        tables.append(_compared(report.best))
    if len(report.every.rows) > len(report.best.rows):
        tables.append(
            _hard_table(report.every, "Hard prediction: all configurations", rule, folded=True)
        )
    return Section("Hard prediction", words, tables)


def _hard_table(
    table: ScoreTable, caption: str, rule: Inconclusive, *, folded: bool = False
) -> ShownTable:
    figures = [row.score.confusion.figures() for row in table.rows]
    best = {
        name: max((v for one in figures if (v := one[name].value) is not None), default=None)
        for name in HARD
    }
    rows = []
    for row, found in zip(table.rows, figures, strict=True):
        cells = [Cell(named(row.run)), Cell(f"{len(row.score.outcomes):,}")]
        for name in HARD:
            value = found[name].value
            is_best = value is not None and value == best[name] and len(table.rows) > 1
            cells.append(Cell(shown(value), is_best, span_of(row.intervals.get(name))))
        rows.append(cells)
    notes = [*_left_out(table, rule), *_ties(table)]
    titled = [(row.run.title, found) for row, found in zip(table.rows, figures, strict=True)]
    notes += reasons_of(titled, HARD)
    if any(row.intervals for row in table.rows):
        notes.append("Below each figure: its 95 % interval by resampling claims (ours).")
    return ShownTable(
        caption, ["Configuration", "Scored", *HARD.values()], rows, notes=notes, folded=folded
    )


def _left_out(table: ScoreTable, rule: Inconclusive) -> list[str]:
    notes = []
    if table.inconclusive and rule is Inconclusive.ANY:
        notes.append(
            f"{claims_words(table.inconclusive)} called Inconclusive by at least one configuration "
            "of this table left all of them (footnote 7)."
        )
    elif table.inconclusive:
        notes.append(
            f"{claims_words(table.inconclusive)} called Inconclusive by at least one configuration."
        )
    for row in table.rows:
        left = row.score.excluded
        parts = [
            f"{count:,} {words}"
            for count, words in (
                (left.no_verdict, "without a verdict"),
                (left.inconclusive, "for an Inconclusive verdict"),
            )
            if count
        ]
        if parts:
            notes.append(
                f"{row.run.title}: of {claims_words(row.score.claims)} left out {', '.join(parts)}."
            )
    if len({frozenset(row.score.outcomes) for row in table.rows}) > 1:
        notes.append("Not all rows are about the same claims, so compare them with care.")
    return notes


def _ties(table: ScoreTable) -> list[str]:
    return [
        f"{row.run.title}: {row.tied:,} other configuration{'' if row.tied == 1 else 's'} of its "
        "method had the same macro F1; the first one of the matrix is shown."
        for row in table.rows
        if row.tied
    ]


def _compared(table: ScoreTable) -> ShownTable:
    rows = []
    for one in table.comparisons:
        paired = one.paired
        interval = paired.interval.as_json()
        verdict = "yes" if paired.is_beyond_chance else "no"
        difference = paired.difference.value
        rows.append(
            [
                Cell(named(one.second.run)),
                Cell(f"{paired.claims:,}"),
                Cell(
                    DASH if difference is None else f"{difference:+.3f}",
                    span="" if interval is None else f"{interval[0]:+.3f} to {interval[1]:+.3f}",
                ),
                Cell(DASH if interval is None else verdict),
                Cell(f"{paired.mcnemar.b:,}"),
                Cell(f"{paired.mcnemar.c:,}"),
                Cell(shown(paired.mcnemar.p_value.value)),
            ]
        )
    first = table.comparisons[0].first
    titled = [
        (
            one.second.run.title,
            {"difference": one.paired.difference, "p": one.paired.mcnemar.p_value},
        )
        for one in table.comparisons
    ]
    notes = [
        "The difference in macro F1 is over the claims that both are scored on, with its 95 % "
        "interval: both are resampled together. It is beyond chance where the interval does not "
        "hold 0. McNemar's test asks whether two methods err equally often. Both are ours.",
        *reasons_of(titled, {"difference": "difference", "p": "p"}),
    ]
    return ShownTable(
        f"{first.run.title} compared with the best of the other methods",
        [
            "Compared with", "Claims of both", "Difference", "Beyond chance", "Only first right",
            "Only second right", "McNemar p",
        ],
        rows,
        notes=notes,
    )  # fmt: skip


def soft_section(report: DatasetReport) -> Section:
    """Soft prediction of the configurations that give scores."""
    words = [
        "AUROC is the probability that a supported claim has a higher score than one that is not. "
        "A claim that ended without a verdict in any configuration of a table leaves all of them; "
        "Inconclusive claims stay (E.3)."
    ]
    tables = []
    if report.soft_best.rows:
        tables.append(
            _soft_table(report.soft_best, "Soft prediction: the best configuration by macro F1")
        )
    if len(report.soft.rows) > len(report.soft_best.rows):
        tables.append(_soft_table(report.soft, "Soft prediction: all configurations", folded=True))
    if not tables:
        words = [
            "No configuration gives scores. Several samples of a judge do (samples = 3), and so do "
            "models of entailment."
        ]
    elif report.scoreless:
        words.append(f"Without scores: {some([run.title for run in report.scoreless])}.")
    return Section("Soft prediction", words, tables)


def _soft_table(table: ScoreTable, caption: str, *, folded: bool = False) -> ShownTable:
    best = max((v for row in table.rows if (v := row.score.auroc.value) is not None), default=None)
    rows = []
    notes = [
        f"{claims_words(table.open_ended)} without a verdict in at least one of these "
        "configurations left all of them."
    ]
    for row in table.rows:
        value = row.score.auroc.value
        is_best = value is not None and value == best and len(table.rows) > 1
        rows.append(
            [
                Cell(named(row.run)),
                Cell(f"{len(row.score.scored_softly):,}"),
                Cell(shown(value), is_best, span_of(row.intervals.get("auroc"))),
            ]
        )
    if table.unscored:
        notes.append(
            f"{claims_words(table.unscored)} with a verdict in all of them, but without a score in "
            "at least one that gives scores, left all of them too."
        )
    notes += reasons_of([(row.run.title, {"auroc": row.score.auroc}) for row in table.rows],
                      {"auroc": "AUROC"})  # fmt: skip
    return ShownTable(
        caption, ["Configuration", "Claims", "AUROC"], rows, notes=notes, folded=folded
    )


def ablation_section(table: ScoreTable, rule: Inconclusive) -> Section:
    """Tracing, retrieval and both beside each other."""
    words = [
        "VeriTrail traces and selects evidence with a judge; VT-RAG traces and retrieves; RAG "
        "retrieves only. Where tracing matters most, VeriTrail and VT-RAG are close and above RAG; "
        "where the selection of evidence does, VeriTrail is above both (E.1)."
    ]
    methods = {row.run.configuration.method: row for row in reversed(table.best)}
    ordered = sorted(methods.values(), key=lambda row: -(row.macro_f1 or 0.0))
    if len(ordered) > 1:
        parts = [
            f"{_METHODS[row.run.configuration.method]} {shown(row.macro_f1)}" for row in ordered
        ]
        words.append(
            f"Here, each with its best macro F1: {', '.join(parts)}. Of RAG, the "
            "configurations with a k of VT-RAG are compared here, where there are some."
        )
    shown_table = _hard_table(table, "VeriTrail, VT-RAG and RAG beside each other", rule)
    return Section("Tracing and selection of evidence", words, [shown_table])


_METHODS = {"veritrail": "VeriTrail", "vt_rag": "VT-RAG", "rag": "RAG"}
