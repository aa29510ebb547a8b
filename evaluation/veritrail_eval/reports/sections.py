"""A report of an evaluation, put together from sections of words, tables and heat maps.

HTML and Markdown show the same sections. A cell without a figure is a dash; the note below its
table says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from veritrail_eval.figures.confusion import SUPPORTED, UNSUPPORTED
from veritrail_eval.figures.options import Inconclusive
from veritrail_eval.reporting.report import DatasetReport
from veritrail_eval.reporting.review import Cause, ErrorKind
from veritrail_eval.reporting.stages import ErrorStages, LabelledStages
from veritrail_eval.reports.failures import failures_section
from veritrail_eval.reports.heat_maps import heat_map
from veritrail_eval.reports.parts import (
    DASH,
    Cell,
    Section,
    ShownTable,
    claims_words,
    dollars,
    named,
    percent,
    reasons_of,
    shown,
    span_of,
)
from veritrail_eval.reports.prediction import (
    ablation_section,
    hard_section,
    soft_section,
)
from veritrail_eval.reports.soft_labels import soft_labels_section

_MOST_FAULTS = 8
_MOST_CHARACTERS = 300
_MOST_OPEN_ROWS = 40
_MOST_STAGES_ACROSS = 10
"""Stages that a table shows as columns; more are rows."""

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


def sections_of(report: DatasetReport, rule: Inconclusive) -> list[Section]:
    """The sections about a data set."""
    found = [_endings(report), hard_section(report, rule), soft_section(report)]
    if report.soft_labels is not None:
        found.append(soft_labels_section(report.soft_labels))
    if report.ablation is not None:
        found.append(ablation_section(report.ablation, rule))
    if report.grids:
        found.append(_grids(report))
    found.append(_costs(report))
    if report.stages is not None:
        found.append(_stages(report.stages))
    if report.failures is not None:
        found.append(failures_section(report.failures))
    if report.review is not None:
        found.append(_review(report))
    return found


def facts_of(report: DatasetReport) -> list[tuple[str, str]]:
    """Return what a data set is, in a few words each."""
    labels = report.labels
    judges = "; ".join(dict.fromkeys(run.judge for run in report.runs if run.judge))
    return [
        ("Claims", f"{len(report.dataset.claims):,}"),
        ("Labelled supported", f"{labels[SUPPORTED.value]:,}"),
        ("Labelled not fully supported", f"{labels[UNSUPPORTED.value]:,}"),
        ("Left out: no such label", f"{report.dataset.left_out:,}"),
        ("Sample", report.dataset.sample or "all claims"),
        ("Configurations", f"{len(report.runs):,}"),
        *([("Judged by", judges)] if judges else []),
    ]


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
        f"How the {claims_words(len(report.dataset.claims))} ended, by configuration",
        ["Configuration", *(ENDINGS[name] for name in present)],
        rows,
        notes=notes,
        folded=len(rows) > _MOST_OPEN_ROWS,
    )
    words = [
        "A failure is never a verdict. What failed, ended over budget or was not judged is tried "
        "by the next run."
    ]
    return Section("Claims", words, [table])


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
    "processing": "judging as paid",
    "uncached": "judging with nothing from the cache",
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
            notes.append(f"{one.run.title}: the price of {claims_words(cost.unpriced)} is unknown; "
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
            "Configuration", "Finished", "Cost for a claim", "Judging as paid", "Preparation",
            "Extraction", "Calls", "With cached answers", "Judging, nothing cached",
            "Spent in all", "Nodes verified",
        ],
        rows,
        notes=[*notes, *reasons_of(titled, _COST_NAMES)],
        folded=len(rows) > _MOST_OPEN_ROWS,
    )  # fmt: skip
    words = [
        "The mean over finished claims, retries of invalid answers in. Preparation, such as "
        "embedding all texts, is divided among all claims. Answers from the cache of answers cost "
        "nothing now; the cost for a claim counts them as if they had been paid, at the price of "
        "their tokens that is known now. What was paid is beside it. Spent in all has failures "
        "and repeated tries in. Nodes verified is the mean share of the nodes of a process that "
        "a claim was verified against (D)."
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
            f"{claims_words(stages.localization.unlocated)} rightly called Not Fully Supported "
            "without an error stage left out."
        )
    columns = ["Variant", "True positives", *columns]
    if len(keys) > _MOST_STAGES_ACROSS:
        notes.append(
            "Stages are listed below each other: there are many. Stages of processes of different "
            "lengths have little in common but their number."
        )
        columns, rows = _turned(columns, rows)
    tables = [
        ShownTable(
            "Share of true positives whose error came in at each stage",
            columns,
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


def _turned(
    columns: Sequence[str], rows: Sequence[Sequence[Cell]]
) -> tuple[list[str], list[list[Cell]]]:
    """A table with rows and columns exchanged; the names of its rows become those of columns."""
    named_rows = [[Cell(name) for name in columns], *rows]
    turned = [list(row) for row in zip(*named_rows, strict=True)]
    return ["Stage", *(cell.text for cell in turned[0][1:])], turned[1:]


def _labelled(stages: ErrorStages, titles: Mapping[str, str]) -> ShownTable:
    rows = []
    notes = [
        "A claim for which no stage was reported counts as not found. Alone: the labelled stage is "
        "reported and no other one. The more stages are reported of a claim, the easier the "
        "labelled one is among them. The figures are ours."
    ]
    has_steps = any(one.share_step is not None for one in stages.labelled.values())
    if has_steps:
        notes.append(
            "Step found: what wrote at a labelled stage, such as an agent, wrote at a reported "
            "one, too."
        )
    for name, one in stages.labelled.items():
        rows.append(
            [
                Cell(titles[name]),
                Cell(f"{one.claims:,}"),
                Cell(f"{one.found:,}"),
                Cell(shown(one.share.value), span=span_of(one.interval)),
                Cell(shown(one.share_alone.value), span=span_of(one.interval_alone)),
                *_step_cell(one, has_steps),
                Cell(shown(one.reported.value, 1)),
                Cell(f"{one.unlocated:,}"),
            ]
        )
        if one.share.reason is not None:
            notes.append(f"{DASH} {titles[name]}: {one.share.reason}.")
    return ShownTable(
        "How often a labelled stage is among the reported ones",
        [
            "Variant",
            "Claims with labelled stage",
            "Found",
            "Share found",
            "Share alone",
            *(["Share of step found"] if has_steps else []),
            "Stages reported",
            "No stage reported",
        ],
        rows,
        notes=notes,
    )


def _step_cell(one: LabelledStages, has_steps: bool) -> list[Cell]:
    if not has_steps:
        return []
    if one.share_step is None or one.interval_step is None:
        return [Cell(DASH)]
    return [Cell(shown(one.share_step.value), span=span_of(one.interval_step))]


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
