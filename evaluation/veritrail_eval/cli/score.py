"""`veritrail eval score`: how right methods are, from a table of labels and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from veritrail_eval.cli.options import (
    Resamples,
    Seed,
    TableFile,
    WithIntervals,
    say_reasons,
    shown_figure,
    tell_notes,
)
from veritrail_eval.figures.options import Inconclusive, Resampling
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.graph.model import Verdict

SHORT = {Verdict.FULLY_SUPPORTED: "FS", Verdict.NOT_FULLY_SUPPORTED: "NFS"}


def score(
    file: TableFile,
    inconclusive: Annotated[
        Inconclusive,
        typer.Option(
            help="A claim called inconclusive leaves all methods, or its own, or counts as not "
            "supported, correct or incorrect."
        ),
    ] = Inconclusive.ANY,
    with_intervals: WithIntervals = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="Add McNemar's test of every two methods (ours).")
    ] = False,
    seed: Seed = 0,
    resamples: Resamples = 1_000,
    as_json: AsJson = False,
) -> None:
    """Score verdicts against labels: macro F1, AUROC, cost.

    Also balanced accuracy, precision, recall and cost for a claim.
    FILE has the columns claim_id, label and verdict, and may have method, score and cost_usd.
    Labels and verdicts are FULLY_SUPPORTED, NOT_FULLY_SUPPORTED or INCONCLUSIVE, or empty.
    """
    from veritrail_eval.app.figures import score_methods

    found = score_methods(file, inconclusive, compare=compare)
    how = Resampling(resamples, seed) if with_intervals else None
    document: dict[str, Any] = {"methods": [one.as_json(how) for one in found.methods]}
    if compare:
        document["comparisons"] = [one.as_json() for one in found.comparisons]
    tell_notes(document, found.notes)
    if as_json:
        print_json(document)
        return
    _show(document["methods"])
    _show_intervals(document["methods"])
    _show_comparisons(document.get("comparisons", ()))


def _show(methods: Sequence[Mapping[str, Any]]) -> None:
    figures = [
        "macro_f1",
        "balanced_accuracy",
        *(f"{kind}.{name}" for name in SHORT for kind in ("precision", "recall")),
        "auroc",
    ]
    names = ["F1", "BA", *(f"{kind} {short}" for short in SHORT.values() for kind in "PR")]
    names += ["AUROC", "$/claim"]
    rows = [
        [
            _name(one["method"]),
            f"{one['scored']:,}",
            *(_shown(one, figure) for figure in figures),
            _precise(one["cost_per_claim"]),
        ]
        for one in methods
    ]
    table(("method", "scored", *names), rows, right=["scored", *names])
    for one in methods:
        name = _name(one["method"])
        left = {reason: count for reason, count in one["excluded"].items() if count}
        if left:
            parts = ", ".join(f"{count:,} {reason}" for reason, count in left.items())
            say(f"{name}: of {one['claims']:,} claims left out: {parts}.")
        if one["auroc"] is not None and one["auroc_claims"] != one["scored"]:
            say(f"{name}: AUROC is over {one['auroc_claims']:,} claims.")
        say_reasons(one, f"{name}, ")


def _shown(method: Mapping[str, Any], figure: str) -> str:
    name, _, of = figure.partition(".")
    value = method[name][of] if of else method[name]
    return shown_figure(value)


def _precise(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _show_intervals(methods: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        [_name(one["method"]), figure, *(map(_precise, ends or (None, None)))]
        for one in methods
        for figure, ends in one.get("intervals", {}).items()
    ]
    table(("method", "figure", "from", "to"), rows, right=["from", "to"])
    for one in methods:
        for figure, count in one.get("undefined_resamples", {}).items():
            say(f"{_name(one['method'])}, {figure}: {count:,} resample(s) without it", "dim")


def _show_comparisons(comparisons: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        [
            *map(_name, one["methods"]),
            *(f"{one[key]:,}" for key in ("claims", "b", "c")),
            shown_figure(one["p_value"]),
            one["test"],
        ]
        for one in comparisons
    ]
    columns = ("first", "second", "claims", "only first right", "only second right", "p", "test")
    table(columns, rows, right=columns[2:6])


def _name(method: str | None) -> str:
    return "-" if method is None else one_line(clean(method))
