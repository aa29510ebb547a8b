"""`veritrail eval attribution`: how right attributions are, from one file against another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from veritrail_eval.cli.options import (
    Resamples,
    Seed,
    WithIntervals,
    say_reasons,
    shown_figure,
    tell_notes,
)
from veritrail_eval.figures.options import Resampling
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.graph.errors import InputError


def attribution(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="The attributions that are right.")],
    predicted: Annotated[
        Path, typer.Argument(metavar="PREDICTED", help="The attributions that are scored.")
    ],
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Another prediction: say whether PREDICTED and FILE differ by more than chance.",
        ),
    ] = None,
    annotator: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="A further annotator beside GOLD and PREDICTED: add the means of iou and kappa "
            "over every two of them; may be repeated.",
        ),
    ] = None,
    sources: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The source texts, a process or JSON Lines of node_id and sentences: for "
            "--linked, and for iou where the attributions bring no texts.",
        ),
    ] = None,
    unfaithful: Annotated[
        bool, typer.Option("--unfaithful", help="Add the figures on unfaithful sentences only.")
    ] = False,
    labels: Annotated[
        bool,
        typer.Option("--labels", help="Add the balanced accuracy of labels of faithfulness."),
    ] = False,
    linked: Annotated[
        bool,
        typer.Option(
            "--linked",
            help="Add the positions of the source sentences that GOLD's faithful and unfaithful "
            "sentences rest on; needs --sources.",
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Write all figures, and those of each sentence, as CSV; with --linked also a "
            "plot (SVG).",
        ),
    ] = None,
    with_intervals: WithIntervals = False,
    seed: Seed = 0,
    resamples: Resamples = 1_000,
    as_json: AsJson = False,
) -> None:
    """Score attributions of sentences to source sentences.

    Figures are precision, recall, F1, overlap of words and kappa of categories.
    GOLD and PREDICTED are what `veritrail attribute --json` prints, or JSON Lines of
    {"id", "attributed": [["node", 3]]}, perhaps with categories and label.
    """
    from veritrail_eval.app.attribution import score_attributions

    if linked and sources is None:
        raise InputError("--linked: name the source texts with --sources FILE")
    found = score_attributions(
        gold,
        predicted,
        Resampling(resamples, seed),
        compare=compare,
        annotators=annotator or (),
        sources=sources,
        unfaithful=unfaithful,
        labels=labels,
        linked=linked,
        with_intervals=with_intervals,
    )
    tell_notes({}, found.notes)  # the document counts what is missing
    if output is not None:
        for path in found.write(output):
            say(f"Wrote {path}")
    if as_json:
        print_json(found.document)
        return
    _show(found.document)


def _show(document: Mapping[str, Any]) -> None:
    intervals = document.get("intervals", {})
    names = ("macro_precision", "macro_recall", "macro_f1", "iou", "kappa_categories")
    rows = [[name, shown_figure(document[name], intervals.get(name))] for name in names]
    if "unfaithful" in document:
        own = document["unfaithful"]
        rows += [[f"{name}, unfaithful", shown_figure(own[name])] for name in names if name in own]
    rows += [
        [f"balanced accuracy, {name} labels", shown_figure(own["balanced_accuracy"])]
        for name, own in document.get("labels", {}).items()
    ]
    table(("figure", "value"), rows, right=["value"])
    say(f"{document['sentences']:,} sentences, {document['missing']:,} missing.")
    say_reasons(document)
    say_reasons(document.get("unfaithful", {}), "unfaithful, ")
    for name, own in document.get("labels", {}).items():
        say_reasons(own, f"{name} labels, ")
    _show_comparison(document.get("comparison"))
    _show_annotators(document.get("annotators"))
    _show_linked(document.get("linked"))


def _show_annotators(agreement: Mapping[str, Any] | None) -> None:
    """Show the means over every two annotators."""
    if agreement is None:
        return
    names = ("iou", "kappa_categories", "kappa_unfaithful")
    rows = [
        [" and ".join(Path(name).name for name in one["annotators"]), f"{one['sentences']:,}"]
        + [shown_figure(one[name]) for name in names]
        for one in agreement["pairs"]
    ]
    rows.append(["mean", "", *(shown_figure(agreement[name]) for name in names)])
    every = [f"{agreement['comparisons']:,}", shown_figure(agreement["iou_by_comparison"]), "", ""]
    rows.append(["mean over comparisons", *every])
    columns = ("annotators", "sentences", *names)
    table(columns, rows, right=columns[1:])
    say_reasons(agreement)


def _show_comparison(comparison: Mapping[str, Any] | None) -> None:
    if comparison is None:
        return
    said = {True: "yes", False: "no", None: "-"}
    rows = [
        [
            name,
            *(shown_figure(one[key]) for key in ("first", "second")),
            "-" if one["p_value"] is None else f"{one['p_value']:.4f}",
            said[one["significant"]],
        ]
        for name, one in comparison["figures"].items()
    ]
    columns = ("figure", "first", "second", "p", f"significant at {comparison['threshold']}")
    table(columns, rows, right=columns[1:4])
    say_reasons(comparison)


def _show_linked(linked: Mapping[str, Any] | None) -> None:
    if linked is None:
        return
    groups = ("faithful_linked", "unfaithful_linked")
    rows = [
        [f"tenth {place + 1}", *(f"{linked[name]['tenths'][place]:,}" for name in groups)]
        for place in range(len(linked[groups[0]]["tenths"]))
    ]
    for key, title in (
        ("last_tenth", "share in the last tenth"),
        ("non_literal_sets", "sets with non-literal language"),
    ):
        rows.append([title, *(shown_figure(linked[name][key]) for name in groups)])
    rows.append(
        [
            "sentences on last tenth",
            *(f"{linked[one]['resting_on_last_tenth']:,}" for one in groups),
        ]
    )
    columns = ("source sentences", "faithful-linked", "unfaithful-linked")
    table(columns, rows, right=columns[1:])
    say(
        "Of the sentences that rest on the last tenth, unfaithful over faithful: "
        f"{shown_figure(linked['last_tenth_ratio'])}."
    )
    say_reasons(linked, "linked, ")
