"""`veritrail eval dialogue`: how right methods are on labelled turns of dialogues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.evaluation.estimating import say_likely
from veritrail_graph.api.cli.evaluation.options import (
    INTERRUPTION,
    Resamples,
    Seed,
    WithIntervals,
    say_reasons,
    shown_figure,
    tell_notes,
)
from veritrail_graph.api.cli.evaluation.turn_agreement import (
    show_annotators,
    show_disagreements,
)
from veritrail_graph.api.cli.exits import NOT_ALL_SUCCEEDED, UNREACHABLE, Exit
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
    Structured,
    VerdictModel,
    model_options,
)
from veritrail_graph.api.cli.terminal import long_work, print_json, say, table
from veritrail_graph.api.views.texts import clean, one_line
from veritrail_graph.evaluation.dialogues.compared import Ablation, DialogueMethod
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.model import Status

if TYPE_CHECKING:
    from veritrail_graph.api.app.evaluation.dialogues import (
        ComparedDialogues,
        DialogueComparison,
        EstimatedMethod,
        Matching,
        Variant,
    )
    from veritrail_graph.evaluation.dialogues.gold import DialogueGold, TurnKey
    from veritrail_graph.evaluation.dialogues.predicted import PredictedTurns
    from veritrail_graph.evaluation.figures.options import Resampling
    from veritrail_graph.graph.model import Usage
    from veritrail_graph.graph.model.dialogue import DialogueLabel


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
    structured: Structured = False,
    no_cache: NoCache = False,
    concurrency: CallsAtOnce = None,
    as_json: AsJson = False,
) -> None:
    """Compare methods on labelled turns of dialogues.

    The methods are VISTA, FActScore, a judge of whole turns, and the majority. Figures are
    accuracy, macro F1, matrices, McNemar's test against the first method, and the cost of a turn.
    A turn without an answer has no label: it is counted and leaves the figures.
    """
    from veritrail_graph.api.app.evaluation.dialogues import DialogueComparison
    from veritrail_graph.evaluation.dialogues.gold import read_gold
    from veritrail_graph.evaluation.dialogues.predicted import read_predicted
    from veritrail_graph.evaluation.dialogues.score import gold_labels
    from veritrail_graph.evaluation.dialogues.tables import write_turns
    from veritrail_graph.evaluation.figures.options import Resampling

    labelled = read_gold(gold)
    finished = [read_predicted(path, labelled) for path in predicted or ()]
    _refuse_equal_names(finished)
    how = DialogueComparison(
        _variants(method or (), ablation or ()),
        engine,
        model_options(locals()),
        prompts,
        turn_check,
        given_claims,
    )
    labels = gold_labels(labelled, consensus=consensus)
    runs = bool(how.variants) or not finished
    if estimate:
        work = _estimated(labelled, labels, how)
        _tell_estimate(run_work(work, as_json=as_json) if runs else [], as_json=as_json)
        return
    found, matching = run_work(
        _run(labelled, labels, how, finished, embedding, runs=runs),
        as_json=as_json,
        interruption=INTERRUPTION,
    )
    every = [*found.predicted, *finished]
    for warning in found.warnings:
        say(f"Warning: {one_line(warning)}", "yellow")
    resampling = Resampling(resamples, seed) if with_intervals else None
    document = _document(labelled, labels, every, matching, resampling, consensus=consensus)
    tell_notes(document, [note for one in every for note in one.notes])
    if output is not None:
        for path in write_turns(output, labelled, labels, every):
            say(f"Wrote {path}")
    if as_json:
        print_json(document)
    else:
        _show(document)
    _end(found)


def _variants(methods: Sequence[DialogueMethod], ablations: Sequence[str]) -> tuple[Variant, ...]:
    """The rows that are asked for: VISTA stands before what is left out of it.

    Raises:
        InputError: A name is no ablation.
    """
    from veritrail_graph.api.app.evaluation.dialogues import Variant

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


def _refuse_equal_names(finished: Sequence[PredictedTurns]) -> None:
    """See that rows can be told apart.

    Raises:
        InputError: Two files have one name.
    """
    counts = Counter(one.method for one in finished)
    if twice := next((name for name, count in counts.items() if count > 1), None):
        raise InputError(
            f"Two files are named {shown(twice)}, and files are called by their names; rename one."
        )


async def _estimated(
    gold: DialogueGold, labels: Mapping[TurnKey, DialogueLabel], how: DialogueComparison
) -> list[EstimatedMethod]:
    from veritrail_graph.api.app.evaluation.dialogues import estimate_dialogues
    from veritrail_graph.api.settings import Settings

    return await estimate_dialogues(Settings(), gold, labels, how)


async def _run(
    gold: DialogueGold,
    labels: Mapping[TurnKey, DialogueLabel],
    how: DialogueComparison,
    finished: Sequence[PredictedTurns],
    embedding: str | None,
    *,
    runs: bool,
) -> tuple[ComparedDialogues, Matching]:
    from veritrail_graph.api.app.evaluation.dialogues import (
        ComparedDialogues,
        check_embedding,
        compare_dialogues,
        match_claims,
        shared_by_methods,
    )
    from veritrail_graph.api.settings import Settings

    settings, shared = Settings(), shared_by_methods(how)
    check_embedding(settings, embedding)
    found = ComparedDialogues(())
    if runs:
        likely = await _estimated(gold, labels, how)
        _tell_before(likely, None if how.models is None else how.models.budget)
        of = {one.method: one.turns for one in likely}
        done: Counter[str] = Counter()
        with long_work() as work:

            def on_turn(name: str) -> None:
                done[name] += 1
                work.update(f"turns, {name}", done[name], of[name])

            found = await compare_dialogues(settings, gold, labels, how, shared, on_turn)
    every = [*found.predicted, *finished]
    return found, await match_claims(settings, gold, every, how, embedding, shared)


def _document(
    gold: DialogueGold,
    labels: Mapping[TurnKey, DialogueLabel],
    every: Sequence[PredictedTurns],
    matching: Matching,
    how: Resampling | None,
    *,
    consensus: bool,
) -> dict[str, Any]:
    from veritrail_graph.evaluation.dialogues.claim_sets import ClaimAgreement
    from veritrail_graph.evaluation.dialogues.disagreements import disagreements_json
    from veritrail_graph.evaluation.dialogues.score import LABELS, TurnScore

    matcher = matching.matcher
    scores = [TurnScore.of(gold, one, matcher, consensus=consensus) for one in every]
    agreement = ClaimAgreement.of(gold, matcher)
    counts = Counter(labels.values())
    claims = [turn.claims for turn in gold.turns if turn.claims is not None]
    return {
        "gold": {
            "dialogues": len(gold.dialogues),
            "turns": len(gold.turns),
            "labels": {name.value: counts[name] for name in LABELS},
            "no_label": len(gold.turns) - len(labels),
            "claims": sum(map(len, claims)) if claims else None,
            "labels_from": "claims" if consensus else "labels",
        },
        "matching": matcher.words,
        "methods": [
            one.as_json(scores[0] if place else None, how) for place, one in enumerate(scores)
        ],
        "annotators": None if agreement is None else agreement.as_json(matcher, how),
        "disagreements": disagreements_json(gold, every, matcher),
        "usage": _usage(every, matching).json_object(),
    }


def _usage(every: Sequence[PredictedTurns], matching: Matching) -> Usage:
    return sum((one.usage for one in every), matching.usage)


def _tell_before(likely: Sequence[EstimatedMethod], budget: float | None) -> None:
    """Say in a line what a run that asks models is likely to cost."""
    from veritrail_graph.graph.model import Usage

    usage = sum((one.usage for one in likely), Usage())
    if usage.calls:
        say_likely("Without cached answers likely", usage, "method", budget)


def _tell_estimate(likely: Sequence[EstimatedMethod], *, as_json: bool) -> None:
    from veritrail_graph.api.views.costs import cost_words
    from veritrail_graph.evaluation.dialogues.assumed import assumptions

    if as_json:
        print_json({"assumptions": assumptions(), "methods": [one.as_json() for one in likely]})
        return
    rows = [
        [
            one.method,
            f"{one.turns:,}",
            f"{one.usage.calls:,}",
            f"{one.usage.input_tokens:,}",
            f"{one.usage.output_tokens:,}",
            cost_words(one.usage) if one.usage.calls else "-",
        ]
        for one in likely
    ]
    columns = ("method", "turns", "calls", "input", "output", "cost")
    table(columns, rows, right=columns[1:])
    say("Likely figures, from assumed answers; no call was made. --json lists what is assumed.")


def _show(document: Mapping[str, Any]) -> None:
    from veritrail_graph.api.views.costs import usage_words
    from veritrail_graph.graph.model import Usage

    rows = [_row(one) for one in document["methods"]]
    columns = (
        "method", "turns", "scored", "excluded", "accuracy", "macro F1", "difference", "b, c", "p",
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
        say_reasons(one["mcnemar"] or {}, f"{name}, against the first, ")
    _show_claims(document)
    _show_holds(document)
    show_annotators(document["annotators"])
    show_disagreements(document["disagreements"])
    usage = Usage.model_validate(document["usage"])
    if usage.calls or usage.cached_calls:
        say(usage_words(usage), "dim")


def _row(one: Mapping[str, Any]) -> list[str]:
    intervals, test = one.get("intervals", {}), one["mcnemar"]
    cost = one["cost_per_turn"]
    compared = ["", "", ""]
    if test is not None:
        compared = [
            "-" if test["difference"] is None else f"{test['difference']:+.3f}",
            f"{test['b']:,}, {test['c']:,}",
            "-" if test["p_value"] is None else f"{test['p_value']:.4f}",
        ]
    return [
        one["method"],
        f"{one['turns']:,}",
        f"{one['scored']:,}",
        f"{sum(one['excluded'].values()):,}",
        *(shown_figure(one[name], intervals.get(name)) for name in ("accuracy", "macro_f1")),
        *compared,
        "-" if cost is None else f"{cost:.6f}",
    ]


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
            ]
        )
    if not rows:
        return
    columns = (
        "claims", "people's", "unmatched", "extra", "Jaccard", "F1", "verified or not",
        "category", "macro F1",
    )  # fmt: skip
    table(columns, rows, right=columns[1:])
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


def _end(found: ComparedDialogues) -> None:
    """End the command with the status of the contract.

    Raises:
        Exit: A turn has no answer.
    """
    left = [
        turn
        for one in found.predicted
        for turn in one.turns.values()
        if turn.status is not Status.SUCCEEDED
    ]
    if found.refusal is not None:
        say(f"Error: the run was stopped: {one_line(str(found.refusal))}", "bold red")
        raise Exit(UNREACHABLE)
    if left:
        reason = one_line(clean(left[0].error or ""))
        say(f"{len(left):,} turn(s) did not succeed and have no label: {reason}", "red")
        raise Exit(NOT_ALL_SUCCEEDED)
