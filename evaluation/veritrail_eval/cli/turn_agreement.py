"""Print `veritrail eval agreement` for dialogues: claims, labels, and kinds of disagreement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veritrail_eval.cli.options import say_reasons, shown_figure
from veritrail_graph.api.cli.terminal import say, table
from veritrail_graph.api.show.texts import clean, one_line


def show_agreement_on_turns(document: Mapping[str, Any]) -> None:
    """Show figures and kinds of disagreement."""
    show_annotators(document["annotators"])
    if document["annotators"] is None:
        say("No two annotators labelled the claims of a turn.", "yellow")
    show_disagreements(document["disagreements"])


def show_annotators(found: Mapping[str, Any] | None) -> None:
    """Show how far annotators name the same claims, and label them alike."""
    if found is None:
        return
    rows = [
        [one_line(clean(pair)), *(shown_figure(one[name]) for name in ("jaccard", "f1"))]
        for pair, one in found["pairs"].items()
    ]
    rows.append(["mean", shown_figure(found["jaccard"]), shown_figure(found["f1"])])
    table(("annotators", "Jaccard", "F1"), rows, right=("Jaccard", "F1"))
    interval = found.get("intervals", {}).get("krippendorff_alpha")
    alpha = shown_figure(found["krippendorff_alpha"], interval)
    say(f"Krippendorff's alpha over {found['matched']:,} matched claims: {alpha}.")
    say_reasons(found, "annotators, ")


def show_disagreements(found: Mapping[str, Any]) -> None:
    """Show by which kinds two differ: a column for each two."""
    columns = {}
    if found["data_set"] is not None:
        columns["data set and people"] = found["data_set"]
    for name, one in found["methods"].items():
        columns[f"{name} and people"] = one
    for pair, one in found["annotators"].items():
        columns[" and ".join(pair.split("|"))] = one
    if not columns:
        return
    for title, kinds in (("turns", "kinds"), ("claims", "claim_kinds")):
        filled = {name: one[kinds] for name, one in columns.items() if one[title]}
        if not filled:
            continue
        rows = [
            [kind.replace("_", " "), *(f"{one[kind]:,}" for one in filled.values())]
            for kind in next(iter(filled.values()))
        ]
        names = [one_line(clean(name)) for name in filled]
        table((title, *names), rows, right=names)
    say("The second of each two is held to be right.", "dim")
