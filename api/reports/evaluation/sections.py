"""A report of an evaluation, put together from sections of words, tables and heat maps.

HTML and Markdown show the same sections. A cell without a figure is a dash; the note below its
table says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from veritrail_graph.api.reports.evaluation.heat_maps import HeatMap, heat_map
from veritrail_graph.evaluation.figures.bootstrap import Interval
from veritrail_graph.evaluation.figures.confusion import SUPPORTED, UNSUPPORTED
from veritrail_graph.evaluation.figures.figure import Figure
from veritrail_graph.evaluation.figures.scores import Inconclusive
from veritrail_graph.evaluation.reporting.report import DatasetReport
from veritrail_graph.evaluation.reporting.review import Cause, ErrorKind
from veritrail_graph.evaluation.reporting.run_folder import ConfigurationRun
from veritrail_graph.evaluation.reporting.score_tables import ScoredRun, ScoreTable
from veritrail_graph.evaluation.reporting.stages import ErrorStages

DASH = "\N{EN DASH}"
_MOST_NAMES = 3
_MOST_FAULTS = 8
_MOST_CHARACTERS = 300

HARD = {
    "macro_f1": "Macro F1",
    "balanced_accuracy": "Bal. acc.",
    f"precision.{SUPPORTED}": "Precision FS",
    f"recall.{SUPPORTED}": "Recall FS",
    f"precision.{UNSUPPORTED}": "Precision NFS",
    f"recall.{UNSUPPORTED}": "Recall NFS",
}
"""The columns of the paper's Table 1, by figure."""

ENDINGS = {
    "FULLY_SUPPORTED": "Supported",
    "NOT_FULLY_SUPPORTED": "Not fully supported",
    "INCONCLUSIVE": "Inconclusive",
    "undecided": "Undecided",
    "failed": "Failed",
    "over_budget": "Over budget",
    "cancelled": "Cancelled",
    "not_judged": "Not judged",
}

RULES = {
    Inconclusive.ANY: "leaves every method of the table",
    Inconclusive.OWN: "leaves only the method that calls it so",
    Inconclusive.NOT_SUPPORTED: "counts as Not Fully Supported",
    Inconclusive.CORRECT: "counts as right",
    Inconclusive.INCORRECT: "counts as wrong",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: What it says.
        strong: Whether it is the highest of its column.
        span: An interval below the figure, as text.
    """

    text: str
    strong: bool = False
    span: str = ""


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table.

    Attributes:
        caption: What it shows.
        columns: Names of the columns; the first one names the row.
        rows: The cells.
        texts: Places of columns that hold texts; all others hold numbers.
        notes: What is left out, and why figures are missing.
        folded: Whether it is closed until it is asked for.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    texts: Sequence[int] = (0,)
    notes: Sequence[str] = ()
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report.

    Attributes:
        heading: Its heading.
        words: Paragraphs before the tables.
        tables: Its tables.
        maps: Its heat maps.
    """

    heading: str
    words: Sequence[str] = ()
    tables: Sequence[ShownTable] = ()
    maps: Sequence[HeatMap] = field(default=())


def sections_of(report: DatasetReport, rule: Inconclusive) -> list[Section]:
    """The sections about a data set."""
    found = [_endings(report), _hard(report, rule), _soft(report)]
    if report.ablation is not None:
        found.append(_ablation(report.ablation, rule))
    if report.grids:
        found.append(_grids(report))
    found.append(_costs(report))
    if report.stages is not None:
        found.append(_stages(report.stages))
    if report.review is not None:
        found.append(_review(report))
    return found


def facts_of(report: DatasetReport) -> list[tuple[str, str]]:
    """What a data set is, in a few words each."""
    labels = report.labels
    return [
        ("Claims", f"{len(report.dataset.claims):,}"),
        ("Labelled supported", f"{labels[SUPPORTED.value]:,}"),
        ("Labelled not fully supported", f"{labels[UNSUPPORTED.value]:,}"),
        ("Left out: no such label", f"{report.dataset.left_out:,}"),
        ("Sample", report.dataset.sample or "all claims"),
        ("Configurations", f"{len(report.runs):,}"),
    ]


def named(run: ConfigurationRun) -> str:
    """A configuration in a table."""
    return f"{run.title} (indicative)" if run.indicative else run.title


def shown(value: float | None, places: int = 3) -> str:
    """A figure as text."""
    return DASH if value is None else f"{value:.{places}f}"


def dollars(value: float | None) -> str:
    """US dollars as text."""
    return DASH if value is None else f"{value:,.4f}"


def percent(value: float | None) -> str:
    """A share as text."""
    return DASH if value is None else f"{value * 100:.1f} %"


def _span(interval: Interval | None) -> str:
    ends = interval.as_json() if interval is not None else None
    return "" if ends is None else f"{ends[0]:.3f} to {ends[1]:.3f}"


def _reasons(
    rows: Iterable[tuple[str, Mapping[str, Figure]]], names: Mapping[str, str]
) -> list[str]:
    """Why figures are missing: each reason once, with the figures and the rows that it is about."""
    found: dict[tuple[str, str], list[str]] = {}
    for title, figures in rows:
        lacking: dict[str, list[str]] = {}
        for name, words in names.items():
            reason = figures[name].reason if name in figures else None
            if reason is not None:
                lacking.setdefault(reason, []).append(words)
        for reason, words_of in lacking.items():
            found.setdefault((", ".join(words_of), reason), []).append(title)
    notes = []
    for (words, reason), titles in found.items():
        more = f" and {len(titles) - _MOST_NAMES:,} more" if len(titles) > _MOST_NAMES else ""
        notes.append(f"{DASH} {words}: {reason} ({'; '.join(titles[:_MOST_NAMES])}{more}).")
    return notes


def _endings(report: DatasetReport) -> Section:
    counts = [(run, run.endings()) for run in report.runs]
    present = [name for name in ENDINGS if any(ended[name] for _, ended in counts)]
    rows = [
        [Cell(named(run)), *(Cell(f"{ended[name]:,}") for name in present)] for run, ended in counts
    ]
    faults: Counter[str] = Counter()
    for run in report.runs:
        faults.update(run.faults())
    notes = [
        f"{count:,} time{'' if count == 1 else 's'} no verdict: {_clipped(reason)}"
        for reason, count in faults.most_common(_MOST_FAULTS)
    ]
    left = faults.total() - sum(count for _, count in faults.most_common(_MOST_FAULTS))
    if left:
        notes.append(f"{left:,} times no verdict for other reasons, which are in outcomes.jsonl.")
    table = ShownTable(
        f"How the {_claims(len(report.dataset.claims))} ended, by configuration",
        ["Configuration", *(ENDINGS[name] for name in present)],
        rows,
        notes=notes,
    )
    words = [
        "A failure is never a verdict. What failed, ended over budget or was not judged is tried "
        "by the next run."
    ]
    return Section("Claims", words, [table])


def _hard(report: DatasetReport, rule: Inconclusive) -> Section:
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
            cells.append(Cell(shown(value), is_best, _span(row.intervals.get(name))))
        rows.append(cells)
    notes = [*_left_out(table, rule), *_ties(table)]
    titled = [(row.run.title, found) for row, found in zip(table.rows, figures, strict=True)]
    notes += _reasons(titled, HARD)
    if any(row.intervals for row in table.rows):
        notes.append("Below each figure: its 95 % interval by resampling claims (ours).")
    return ShownTable(
        caption, ["Configuration", "Scored", *HARD.values()], rows, notes=notes, folded=folded
    )


def _left_out(table: ScoreTable, rule: Inconclusive) -> list[str]:
    notes = []
    if table.inconclusive and rule is Inconclusive.ANY:
        notes.append(
            f"{_claims(table.inconclusive)} called Inconclusive by at least one configuration of "
            "this table left all of them (footnote 7)."
        )
    elif table.inconclusive:
        notes.append(
            f"{_claims(table.inconclusive)} called Inconclusive by at least one configuration."
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
                f"{row.run.title}: of {_claims(row.score.claims)} left out {', '.join(parts)}."
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
        *_reasons(titled, {"difference": "difference", "p": "p"}),
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


def _soft(report: DatasetReport) -> Section:
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
        words.append(f"Without scores: {_some([run.title for run in report.scoreless])}.")
    return Section("Soft prediction", words, tables)


def _soft_table(table: ScoreTable, caption: str, *, folded: bool = False) -> ShownTable:
    best = max((v for row in table.rows if (v := row.score.auroc.value) is not None), default=None)
    rows = []
    notes = [
        f"{_claims(table.open_ended)} without a verdict in at least one of these configurations "
        "left all of them."
    ]
    for row in table.rows:
        value = row.score.auroc.value
        is_best = value is not None and value == best and len(table.rows) > 1
        rows.append(
            [
                Cell(named(row.run)),
                Cell(f"{len(row.score.scored_softly):,}"),
                Cell(shown(value), is_best, _span(row.intervals.get("auroc"))),
            ]
        )
        notes += _scoreless_claims(row, table)
    notes += _reasons([(row.run.title, {"auroc": row.score.auroc}) for row in table.rows],
                      {"auroc": "AUROC"})  # fmt: skip
    return ShownTable(
        caption, ["Configuration", "Claims", "AUROC"], rows, notes=notes, folded=folded
    )


def _scoreless_claims(row: ScoredRun, table: ScoreTable) -> list[str]:
    missing = row.score.claims - table.open_ended - len(row.score.scored_softly)
    if missing <= 0:
        return []
    return [f"{row.run.title}: {_claims(missing)} with a verdict but without a score left out."]


def _ablation(table: ScoreTable, rule: Inconclusive) -> Section:
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
        words.append(f"Here, each with its best macro F1: {', '.join(parts)}.")
    shown_table = _hard_table(table, "VeriTrail, VT-RAG and RAG beside each other", rule)
    return Section("Tracing and selection of evidence", words, [shown_table])


_METHODS = {"veritrail": "VeriTrail", "vt_rag": "VT-RAG", "rag": "RAG"}


def _grids(report: DatasetReport) -> Section:
    words = [
        "Macro F1 over parameters; the darker, the higher. The figures are those of the table of "
        "all configurations (E.4)."
    ]
    words += [
        f"{one.label}: {one.left_out:,} more heat maps are not shown."
        for one in report.grids
        if one.left_out
    ]
    maps = [heat_map(one) for grids in report.grids for one in grids.shown]
    return Section("Parameters", words, maps=maps)


_COST_NAMES = {
    "total": "cost for a claim",
    "processing": "judging",
    "uncached": "judging without cached answers",
    "preparation": "preparation",
    "extraction": "extraction",
    "calls": "calls",
    "spent": "spent in all",
    "share": "nodes verified",
}


def _costs(report: DatasetReport) -> Section:
    rows, titled, notes = [], [], []
    for one in report.costs:
        cost = one.cost
        figures = {
            "total": one.total,
            "processing": cost.processing,
            "uncached": cost.uncached,
            "extraction": cost.extraction,
            "preparation": cost.one_time,
            "calls": one.calls,
            "spent": one.spent,
            "share": one.share_verified,
        }
        rows.append(
            [
                Cell(named(one.run)),
                Cell(f"{cost.finished:,}"),
                Cell(dollars(one.total.value)),
                Cell(dollars(cost.processing.value)),
                Cell(dollars(cost.one_time.value)),
                Cell(dollars(cost.extraction.value)),
                Cell(shown(one.calls.value, 1)),
                Cell(f"{cost.cached:,}"),
                Cell(dollars(cost.uncached.value)),
                Cell(dollars(one.spent.value)),
                Cell(percent(one.share_verified.value)),
            ]
        )
        titled.append((one.run.title, figures))
        if cost.unpriced and one.run.asks_models:
            notes.append(f"{one.run.title}: the price of {_claims(cost.unpriced)} is unknown; "
                         "they are left out of the mean.")  # fmt: skip
        if one.preparations > 1:
            notes.append(f"{one.run.title}: prepared {one.preparations:,} times, as the run was "
                         "continued; all of them are counted.")  # fmt: skip
    if report.human is not None:
        blank = [Cell("")] * 8
        rows.append([Cell("A person"), Cell(""), Cell(dollars(report.human.value)), *blank])
    if all(one.cost.extraction.value == 0 for one in report.costs):
        notes.append("The claims came with the data set, so their extraction cost nothing here.")
    table = ShownTable(
        "US dollars for a claim, by configuration",
        [
            "Configuration", "Finished", "Cost for a claim", "Judging", "Preparation", "Extraction",
            "Calls", "With cached answers", "Judging without these", "Spent in all",
            "Nodes verified",
        ],
        rows,
        notes=[*notes, *_reasons(titled, _COST_NAMES)],
    )  # fmt: skip
    words = [
        "The mean over finished claims, retries of invalid answers in. Preparation, such as "
        "embedding all texts, is divided among all claims. Answers from the cache of answers cost "
        "nothing now: the mean without these claims is what the method costs anew. Spent in all "
        "has failures and repeated tries in. Nodes verified is the mean share of the nodes of a "
        "process that a claim was verified against (D)."
    ]
    return Section("Cost", words, [table])


def _stages(stages: ErrorStages) -> Section:
    document = stages.document
    keys = [str(stage) for stage in stages.localization.stages]
    names = {str(stage): name for stage, name in stages.stage_names.items()}
    columns = [f"{key} {names[key]}" if key in names else key for key in keys]
    titles = {run.configuration_id: named(run) for run in stages.runs}
    rows = [
        [
            Cell(titles[one["variant"]]),
            Cell(f"{one['true_positives']:,}"),
            *(Cell(shown(one["rates"][key])) for key in keys),
        ]
        for one in document["variants"]
    ]
    total = sum(one["true_positives"] for one in document["variants"])
    intervals = document["intervals"]
    mean = [
        Cell(
            shown(document["rates"][key]),
            span=""
            if intervals[key] is None
            else f"{intervals[key][0]:.3f} to {intervals[key][1]:.3f}",
        )
        for key in keys
    ]
    rows.append([Cell("All, weighted by true positives"), Cell(f"{total:,}"), *mean])
    plain = [Cell(shown(document["unweighted"][key])) for key in keys]
    rows.append([Cell("All, unweighted (a check)"), Cell(""), *plain])
    notes = [
        f"Mean over pairs of variants: Jensen-Shannon divergence {shown(document['jsd'])} "
        f"(0: equal), Spearman {shown(document['spearman'])} (1: the same ranking)."
    ]
    notes += [f"{name}: {reason}." for name, reason in document.get("reasons", {}).items()]
    if stages.localization.unlocated:
        notes.append(
            f"{_claims(stages.localization.unlocated)} rightly called Not Fully Supported without "
            "an error stage left out."
        )
    tables = [
        ShownTable(
            "Share of true positives whose error came in at each stage",
            ["Variant", "True positives", *columns],
            rows,
            notes=notes,
        )
    ]
    if stages.labelled:
        tables.append(_labelled(stages, titles))
    words = [
        "Counted are claims that are labelled and called Not Fully Supported and have an error "
        "stage; the stage of the sources is left out. A claim can count at several stages, so "
        "rates may add up to more than 1 (H)."
    ]
    return Section("Error stages", words, tables)


def _labelled(stages: ErrorStages, titles: Mapping[str, str]) -> ShownTable:
    rows = []
    notes = ["A claim for which no stage was reported counts as not found. The figure is ours."]
    for name, one in stages.labelled.items():
        rows.append(
            [
                Cell(titles[name]),
                Cell(f"{one.claims:,}"),
                Cell(f"{one.found:,}"),
                Cell(f"{one.unlocated:,}"),
                Cell(shown(one.share.value), span=_span(one.interval)),
            ]
        )
        if one.share.reason is not None:
            notes.append(f"{DASH} {titles[name]}: {one.share.reason}.")
    return ShownTable(
        "How often a labelled stage is among the reported ones",
        ["Variant", "Claims with labelled stage", "Found", "No stage reported", "Share"],
        rows,
        notes=notes,
    )


def _review(report: DatasetReport) -> Section:
    review = report.review
    if review is None:
        return Section("Error review")
    rows = [
        [Cell(cause.value), *(Cell(f"{review.causes[cause][kind]:,}") for kind in ErrorKind)]
        for cause in Cause
    ]
    rows.append(
        [Cell("cases with a cause"), *(Cell(f"{review.reviewed[kind]:,}") for kind in ErrorKind)]
    )
    rows.append(
        [Cell("cases on the sheet"), *(Cell(f"{review.cases[kind]:,}") for kind in ErrorKind)]
    )
    notes = ["A case may have several causes."]
    if review.gone:
        notes.append(
            f"{review.gone:,} cases of the sheet are no errors any more, as the run went on; they "
            "are not counted."
        )
    notes += [f"{claim}: {text}" for claim, text in review.notes]
    table = ShownTable(
        "Causes of errors, as a person found them",
        ["Cause", *(f"{kind.value.capitalize()}s" for kind in ErrorKind)],
        rows,
        notes=notes,
    )
    words = ["Errors drawn at random, half of them false positives, half false negatives (G)."]
    return Section("Error review", words, [table])


def _clipped(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_CHARACTERS else f"{line[: _MOST_CHARACTERS - 1]}…"


def _claims(count: int) -> str:
    return f"{count:,} claim{'' if count == 1 else 's'}"


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    text = "; ".join(names[:_MOST_NAMES])
    return f"{text} and {more:,} more" if more > 0 else text
