"""`veritrail eval attribution`: how right attributions are, from one file against another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.evaluation.options import (
    Resamples,
    Seed,
    WithIntervals,
    say_reasons,
    shown_figure,
    tell_notes,
)
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.evaluation.figures.options import Resampling
from veritrail_graph.graph.errors import shown

if TYPE_CHECKING:
    from veritrail_graph.evaluation.attribution.model import AttributionFile
    from veritrail_graph.evaluation.attribution.score import AttributionScore

FEW = 3


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
    from veritrail_graph.evaluation.attribution.judges import label_scores
    from veritrail_graph.evaluation.attribution.linked import LinkAnalysis, refuse_other_splits
    from veritrail_graph.evaluation.attribution.reading import read_attributions
    from veritrail_graph.evaluation.attribution.score import AttributionScore
    from veritrail_graph.evaluation.attribution.significance import comparison
    from veritrail_graph.evaluation.attribution.sources import read_sources
    from veritrail_graph.evaluation.attribution.tables import write_tables
    from veritrail_graph.graph.errors import InputError

    if linked and sources is None:
        raise InputError("--linked: name the source texts with --sources FILE")
    texts = None if sources is None else read_sources(sources)
    right = read_attributions(gold)
    scored = read_attributions(predicted).named_as(right)
    if not right.sentences:
        raise InputError(f"{gold} holds no sentence with an attribution.")
    found = AttributionScore(right, scored, texts)
    how = Resampling(resamples, seed)
    document = found.as_json(how if with_intervals else None)
    if unfaithful:
        document["unfaithful"] = found.on_unfaithful()
    if labels:
        document["labels"] = {
            name: one.as_json() for name, one in label_scores(right, scored).items()
        }
    analysis = None
    if linked and texts is not None:
        refuse_other_splits(gold, right, texts)
        analysis = LinkAnalysis.of(right, texts)
        document["linked"] = analysis.as_json()
    notes = [*_notes_on_gold(right, gold), *_notes(found, gold, predicted)]
    if compare is not None:
        other = AttributionScore(right, read_attributions(compare).named_as(right), texts)
        document["comparison"] = comparison(found, other, how)
        notes += _notes(other, gold, compare)
    tell_notes({}, notes)  # the document counts what is missing
    if output is not None:
        for path in write_tables(output, found, analysis, document):
            say(f"Wrote {path}")
    if as_json:
        print_json(document)
        return
    _show(document)


def _notes_on_gold(right: AttributionFile, gold: Path) -> Iterator[str]:
    yield from right.notes
    if right.failed:
        yield f"{gold}: {_some(right.failed)} failed and are left out."


def _notes(found: AttributionScore, gold: Path, predicted: Path) -> Iterator[str]:
    """What a person should know before trusting the figures."""
    from veritrail_graph.evaluation.attribution.content_words import unlike_passages

    right, scored = found.gold, found.predicted
    yield from scored.notes
    if found.missing:
        yield (
            f"{predicted} lacks {_some(found.missing)} of {gold}; they count as attributed to "
            f"nothing.{_because_failed(scored, found.missing)}"
        )
    if more := [name for name in scored.sentences if name not in right.sentences]:
        yield f"{predicted}: {_some(more)} are not in {gold} and are left out."
    compared, common = found.categories.sentences, len(right.sentences) - len(found.missing)
    if 0 < compared < common:
        yield (
            f"kappa_categories is over {compared:,} of {common:,} sentences: the others have no "
            f"categories in {gold} or {predicted}."
        )
    if unlike := unlike_passages(right, scored):
        node_id, sentence = unlike[0]
        yield (
            f"{len(unlike)} source sentence(s) have other texts in {gold} and {predicted}, such as "
            f"sentence {sentence} of {shown(node_id)}: the sources were split in another way, so "
            "that precision and recall compare different sentences."
        )


def _some(names: Sequence[str]) -> str:
    first = ", ".join(shown(name) for name in names[:FEW])
    return f"{len(names):,} sentence(s) ({first}{', …' if len(names) > FEW else ''})"


def _because_failed(scored: AttributionFile, missing: list[str]) -> str:
    count = len(set(scored.failed) & set(missing))
    return f" {count:,} of them failed." if count else ""


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
    _show_linked(document.get("linked"))


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
