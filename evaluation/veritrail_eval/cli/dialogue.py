"""`veritrail eval dialogue`: how right methods are on labelled turns of dialogues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_eval.cli.estimating import say_likely
from veritrail_eval.cli.options import (
    INTERRUPTION,
    Resamples,
    Seed,
    WithIntervals,
    end_unless_whole,
    say_reasons,
    shown_figure,
    tell_notes,
)
from veritrail_eval.cli.turn_agreement import (
    show_annotators,
    show_disagreements,
)
from veritrail_eval.dialogues.compared import Ablation, DialogueMethod
from veritrail_graph.api.cli.exits import run as run_work
from veritrail_graph.api.cli.options import (
    AsJson,
    Budget,
    CallsAtOnce,
    ClaimsModel,
    EngineName,
    MaxCalls,
    Model,
    NoCache,
    Price,
    PromptsFolder,
    ReasoningEffort,
    Structured,
    VerdictModel,
    model_options,
)
from veritrail_graph.api.cli.terminal import long_work, print_json, say, table
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, shown

if TYPE_CHECKING:
    from veritrail_eval.app.dialogues import (
        ComparedDialogues,
        DialogueComparison,
        DialogueEstimate,
        LabelledDialogues,
        Variant,
    )


def dialogue(
    gold: Annotated[
        Path, typer.Argument(metavar="GOLD", help="Dialogues with labelled turns (JSON Lines).")
    ],
    predicted: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PREDICTED]...",
            help="Runs that are scored, as `veritrail dialogue verify --json` prints them.",
        ),
    ] = None,
    method: Annotated[
        list[DialogueMethod] | None,
        typer.Option(
            help="A method that labels the turns now; may be repeated. Default: all, or none where "
            "PREDICTED is given.",
        ),
    ] = None,
    ablation: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Also VISTA without a part: no-background, no-history, zero-shot or binary, "
            "several joined by +; may be repeated.",
        ),
    ] = None,
    given_claims: Annotated[
        bool,
        typer.Option(
            "--given-claims", help="Verify GOLD's claims in place of claims of the method's own."
        ),
    ] = False,
    consensus: Annotated[
        bool,
        typer.Option(
            "--consensus", help="Take the labels that follow from GOLD's claims, not its labels."
        ),
    ] = False,
    turn_check: Annotated[
        bool,
        typer.Option("--turn-check", help="Also ask whether each turn contradicts an earlier one."),
    ] = False,
    embedding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="An embedding model that finds reworded claims; default: equal texts alone.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Write the turns (CSV) and the runs."),
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Say what it would cost, and ask no model.")
    ] = False,
    with_intervals: WithIntervals = False,
    seed: Seed = 0,
    resamples: Resamples = 1_000,
    engine: EngineName = None,
    model: Model = None,
    claims_model: ClaimsModel = None,
    verdict_model: VerdictModel = None,
    budget: Budget = None,
    max_calls: MaxCalls = None,
    price: Price = None,
    prompts: PromptsFolder = None,
    effort: ReasoningEffort = None,
    structured: Structured = False,
    no_cache: NoCache = False,
    concurrency: CallsAtOnce = None,
    as_json: AsJson = False,
) -> None:
    """Compare methods on labelled turns of dialogues.

    The methods are VISTA, FActScore, a judge of whole turns, and the majority. Figures are
    accuracy, macro F1, matrices, McNemar's test of every two methods, and the cost of a turn.
    A turn without an answer has no label: it is counted and leaves the figures.
    """
    from veritrail_eval.app.dialogues import DialogueComparison, LabelledDialogues
    from veritrail_eval.figures.options import Resampling

    labelled = LabelledDialogues.read(gold, predicted or (), consensus=consensus)
    how = DialogueComparison(
        _variants(method or (), ablation or ()),
        engine,
        model_options(locals()),
        prompts,
        turn_check,
        given_claims,
        embedding,
    )
    if estimate:
        likely = run_work(_estimated(labelled, how), as_json=as_json)
        if as_json:
            print_json(likely.as_json())
        else:
            _tell_estimate(likely)
        return
    found = run_work(_run(labelled, how), as_json=as_json, interruption=INTERRUPTION)
    for warning in found.warnings:
        say(f"Warning: {one_line(warning)}", "yellow")
    document = found.as_json(Resampling(resamples, seed) if with_intervals else None)
    tell_notes(document, [note for one in found.every for note in one.notes])
    if output is not None:
        for path in found.write(output):
            say(f"Wrote {path}")
    if as_json:
        print_json(document)
    else:
        _show(document)
    reasons = [one.error for one in found.unanswered]
    end_unless_whole(found.refusal, reasons, "turn(s) did not succeed and have no label")


def _variants(methods: Sequence[DialogueMethod], ablations: Sequence[str]) -> tuple[Variant, ...]:
    """The rows that are asked for: VISTA stands before what is left out of it.

    Raises:
        InputError: A name is no ablation.
    """
    from veritrail_eval.app.dialogues import Variant

    names = [name for text in ablations for name in text.split("+")]
    if unknown := next((name for name in names if name not in set(Ablation)), None):
        known = ", ".join(Ablation)
        raise InputError(f"--ablation {shown(unknown)}: there are {known}, joined by +")
    parts = [tuple(one for one in Ablation if one in text.split("+")) for text in ablations]
    wanted = list(methods)
    if parts and DialogueMethod.VISTA not in wanted:
        wanted.insert(0, DialogueMethod.VISTA)
    return tuple(
        Variant(one, part)
        for one in dict.fromkeys(wanted)
        for part in ([(), *dict.fromkeys(parts)] if one is DialogueMethod.VISTA else [()])
    )


async def _estimated(labelled: LabelledDialogues, how: DialogueComparison) -> DialogueEstimate:
    from veritrail_eval.app.dialogues import estimate_dialogues
    from veritrail_graph.api.settings import Settings

    return await estimate_dialogues(Settings(), labelled, how)


async def _run(labelled: LabelledDialogues, how: DialogueComparison) -> ComparedDialogues:
    from veritrail_eval.app.dialogues import compare_dialogues
    from veritrail_graph.api.settings import Settings

    def tell_before(likely: DialogueEstimate) -> None:
        if likely.usage.calls:
            say_likely("Without cached answers likely", likely.usage, "method", how.models.budget)

    with long_work() as work:
        return await compare_dialogues(Settings(), labelled, how, tell_before, work.update)


def _tell_estimate(likely: DialogueEstimate) -> None:
    from veritrail_graph.api.show.costs import cost_words

    rows = [
        [
            one.method,
            f"{one.turns:,}",
            f"{one.usage.calls:,}",
            f"{one.usage.input_tokens:,}",
            f"{one.usage.output_tokens:,}",
            cost_words(one.usage) if one.usage.calls else "-",
        ]
        for one in likely.methods
    ]
    columns = ("method", "turns", "calls", "input", "output", "cost")
    table(columns, rows, right=columns[1:])
    say("Likely figures, from assumed answers; no call was made. --json lists what is assumed.")


def _show(document: Mapping[str, Any]) -> None:
    from veritrail_graph.api.show.costs import usage_words
    from veritrail_graph.graph.model import Usage

    rows = [_row(one) for one in document["methods"]]
    columns = (
        "method", "turns", "scored", "excluded", "accuracy", "macro F1", "VISTA score", "released",
        "USD a turn",
    )  # fmt: skip
    table(columns, rows, right=columns[1:])
    gold = document["gold"]
    labels = ", ".join(f"{number:,} {name}" for name, number in gold["labels"].items())
    of = counted(gold["dialogues"], "dialogue")
    say(f"{counted(gold['turns'], 'labelled turn')} of {of}: {labels}.")
    for one in document["methods"]:
        name = one["method"]
        left = {why: number for why, number in one["excluded"].items() if number}
        if left:
            words = ", ".join(f"{number:,} {why.replace('_', ' ')}" for why, number in left.items())
            say(f"{name}: not scored: {words}.", "yellow")
        if one["indicative"]:
            say(f"{name}: compared by words, indicative only.", "yellow")
        say_reasons(one, f"{name}, ")
    _show_comparisons(document)
    _show_claims(document)
    _show_holds(document)
    show_annotators(document["annotators"])
    show_disagreements(document["disagreements"])
    usage = Usage.model_validate(document["usage"])
    if usage.calls or usage.cached_calls:
        say(usage_words(usage), "dim")


def _row(one: Mapping[str, Any]) -> list[str]:
    intervals, scores = one.get("intervals", {}), one["vista_score"]
    cost = one["cost_per_turn"]
    return [
        one["method"],
        f"{one['turns']:,}",
        f"{one['scored']:,}",
        f"{sum(one['excluded'].values()):,}",
        *(shown_figure(one[name], intervals.get(name)) for name in ("accuracy", "macro_f1")),
        *(shown_figure(scores[name]) for name in ("score", "released")),
        "-" if cost is None else f"{cost:.6f}",
    ]


def _show_comparisons(document: Mapping[str, Any]) -> None:
    """Show McNemar's test of every two methods."""
    rows = [
        [
            one["first"],
            one["second"],
            f"{one['turns']:,}",
            "-" if one["difference"] is None else f"{one['difference']:+.3f}",
            f"{one['b']:,}, {one['c']:,}",
            "-" if one["p_value"] is None else f"{one['p_value']:.4f}",
        ]
        for one in document["comparisons"]
    ]
    if rows:
        columns = ("first", "second", "turns", "first - second", "b, c", "p")
        table(columns, rows, right=columns[2:])
    for one in document["comparisons"]:
        say_reasons(one, f"{one['first']} and {one['second']}, ")


_FIGURES = ("accuracy", "macro_f1")


def _show_claims(document: Mapping[str, Any]) -> None:
    """The figures of claims, where GOLD names some."""
    rows = []
    for one in document["methods"]:
        claims = one["claims"]
        if claims is None:
            continue
        named = claims["categories"] or {}
        rows.append(
            [
                one["method"],
                f"{claims['claims']:,}",
                f"{claims['unmatched']:,}",
                f"{claims['extra']:,}",
                shown_figure(claims["sets"]["jaccard"]),
                shown_figure(claims["sets"]["f1"]),
                shown_figure(claims["labels"]["accuracy"]),
                shown_figure(named.get("accuracy")),
                shown_figure(named.get("macro_f1")),
                *(shown_figure(named.get("with_unmatched", {}).get(n)) for n in _FIGURES),
            ]
        )
    if not rows:
        return
    columns = (
        "claims", "people's", "unmatched", "extra", "Jaccard", "F1", "verified or not",
        "category", "macro F1", "all claims", "macro F1",
    )  # fmt: skip
    table(columns, rows, right=columns[1:])
    say("All claims: those of people; unmatched ones, and those that failed, are wrong.", "dim")
    say(f"Claims are the same by {document['matching']}.", "dim")


def _show_holds(document: Mapping[str, Any]) -> None:
    """Single categories, where GOLD says which turns make such claims."""
    rows = []
    for one in document["methods"]:
        for category, found in one["holds"].items():
            checked = {"turn check": found["turn_check"]} if "turn_check" in found else {}
            for by, figures in {"claims": found, **checked}.items():
                names = ("accuracy", "precision", "recall", "f1")
                rows.append(
                    [one["method"], category, by, f"{figures['scored']:,}"]
                    + [shown_figure(figures.get(name)) for name in names]
                )
    if rows:
        columns = ("method", "category", "by", "scored", "accuracy", "precision", "recall", "F1")
        table(columns, rows, right=columns[3:])
