"""`veritrail attribute`: what each sentence rests on, also when it is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.exits import (
    INTERRUPTED,
    NOT_ALL_SUCCEEDED,
    UNREACHABLE,
    Exit,
    ask_about,
    fault_json,
)
from veritrail_graph.api.cli.options import (
    AsJson,
    Budget,
    CallsAtOnce,
    ClaimIds,
    EngineName,
    JudgeThreshold,
    MaxCalls,
    Model,
    NoCache,
    Price,
    ProcessId,
    PromptsFolder,
    ReasoningEffort,
    Structured,
    options_given,
    parameters,
)
from veritrail_graph.api.cli.terminal import long_work, print_json, say, show
from veritrail_graph.api.cli.watch import PartsWatch
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.words import indicative_words
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.attribution import (
    WINDOW,
    Against,
    Faithfulness,
    JudgeName,
    Recheck,
    SourceMode,
)

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.attribution import Attributed, AttributeOptions
    from veritrail_graph.graph.model.attribution import SentenceAttribution

_CHANGED_BY_RESUMING = frozenset(
    {"process", "resume", "as_json", "budget", "max_calls", "price"}
    | {"prompts", "no_cache", "concurrency"}
)
"""What a run that goes on may have other values of."""

_STYLE = {Faithfulness.FAITHFUL: "green", Faithfulness.UNFAITHFUL: "red"}


def attribute(
    context: typer.Context,
    process: ProcessId,
    node_ids: Annotated[
        list[str] | None,
        typer.Option(
            "--node",
            metavar="NODE",
            help="A node; may be repeated. Default: the terminals of the process.",
        ),
    ] = None,
    against: Annotated[
        Against,
        typer.Option(help="The node's own source nodes (one step), or the roots below it."),
    ] = Against.INPUTS,
    engine: EngineName = None,
    model: Model = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="Also ask a model whether each sentence is faithful.")
    ] = False,
    judge_with: Annotated[
        JudgeName | None,
        typer.Option(
            help="Who judges, such as summac-zs with the entailment model; implies --judge.",
        ),
    ] = None,
    judge_threshold: JudgeThreshold = None,
    correct: Annotated[
        bool,
        typer.Option(
            "--correct",
            help="Also propose a wording for each unfaithful sentence; none is changed.",
        ),
    ] = False,
    mode: Annotated[
        SourceMode,
        typer.Option(
            help="What --judge and --correct see: all sources, all with the attributed sentences "
            "marked, or these alone."
        ),
    ] = SourceMode.ATTRIBUTION,
    recheck: Annotated[
        Recheck | None,
        typer.Option(
            help="Who verifies corrections again: the judge reads the sentence, a walk verifies "
            "each of its claims. Default: the judge, with --judge."
        ),
    ] = None,
    every_mode: Annotated[
        bool,
        typer.Option(
            "--all-modes", help="Propose a wording in each of the three modes, and rank them."
        ),
    ] = False,
    propositions: Annotated[
        bool,
        typer.Option(
            "--propositions",
            help="Split each sentence into the statements in it, and attribute these one by one; "
            "a model is asked.",
        ),
    ] = False,
    claim_id: ClaimIds = None,
    unsupported: Annotated[
        bool,
        typer.Option(
            "--unsupported",
            help="Only the sentences of error nodes that carried claims that are Not Fully "
            "Supported, of all such claims; of some with --claim-id.",
        ),
    ] = False,
    resume: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Go on with a run that was stopped, as it was set."),
    ] = None,
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
    """Show what each sentence of a node rests on in its sources.

    For each sentence, also a wrong one, the fewest source sentences that decide whether it is
    faithful: evidence, contradictions, near matches, or the place where its content would be
    expected. What was found is stored; the texts stay as they are.
    """
    from veritrail_graph.api.app.attribution import AttributeOptions
    from veritrail_graph.api.requests.attribute import AttributeParameters

    given = locals() | {"judge": judge or judge_with is not None}
    if resume is not None and options_given(context) - _CHANGED_BY_RESUMING:
        raise InputError(
            "--resume goes on with the sentences, the engine, the models and the limits of the "
            "run; leave them out, or start a new run."
        )
    asked = parameters(AttributeParameters, given)
    options = AttributeOptions(asked, prompts, concurrency, resume=resume)
    watch = SentenceWatch()
    _, found = ask_about(
        process, lambda app, name: _attribute(app, name, options, watch), as_json=as_json
    )
    for warning in found.warnings:
        say(f"Warning: {one_line(warning)}", "yellow")
    if as_json:
        print_json(as_document(found))
    else:
        tell(found)
    end(found, interrupted=watch.was_interrupted(), cached=not no_cache)


async def _attribute(
    app: Application, process_id: str, options: AttributeOptions, watch: SentenceWatch
) -> Attributed:
    from veritrail_graph.api.app.attribution import AttributionProgress

    with long_work() as work:
        watch.work = work
        progress = AttributionProgress(watch.begins, watch.sentence_done, watch.call_made)
        return await app.attributions.attribute(process_id, options, progress)


class SentenceWatch(PartsWatch):
    """Progress by sentences."""

    def __init__(self) -> None:
        super().__init__("sentences")

    def sentence_done(self, _sentence: SentenceAttribution) -> None:
        """A sentence has ended."""
        self.part_done()


def as_document(found: Attributed) -> dict[str, Any]:
    """The run as the JSON document of the contract."""
    document = found.run.json_object()
    document["stored"] = found.stored
    fault = found.refusal or found.fault
    if fault is not None:
        document["error"] = fault_json(fault)
    return document


def tell(found: Attributed) -> None:
    """Tell a person: each sentence with what it rests on, and what it cost."""
    from veritrail_graph.api.show.attribution import node_shown
    from veritrail_graph.api.show.costs import usage_words
    from veritrail_graph.api.show.terminal import tree

    for node in found.run.nodes:
        show(tree(node_shown(node.node_id, node.sentences)))
    sentences = found.run.sentences
    done = [one for one in sentences if one.status is Status.SUCCEEDED]
    counts = [sum(one.label is label for one in done) for label in Faithfulness]
    words = f"{len(sentences):,} sentence(s): {counts[0]:,} faithful, {counts[1]:,} unfaithful"
    undecided = sum(one.label is None for one in done)
    words += f", {undecided:,} undecided (words alone cannot tell)" if undecided else ""
    for status in (Status.FAILED, Status.OVER_BUDGET, Status.CANCELLED):
        number = sum(one.status is status for one in sentences)
        words += f", {number:,} {status.value.replace('_', ' ')}" if number else ""
    say(words)
    disputed = sum(one.is_disputed for one in done)
    if disputed:
        say(
            f"{disputed:,} of them: the judge says another thing than the attribution implies; "
            "read these first.",
            "yellow",
        )
    if found.run.model is not None:
        say(usage_words(found.run.usage), "dim")
    if found.run.indicative:
        say(f"Engine {found.run.engine}: {indicative_words(found.run.engine)}.", "yellow")


def _is_too_long(one: SentenceAttribution) -> bool:
    """Return whether a prompt was longer than the context window, which no repetition changes."""
    return WINDOW in (one.error or "")


def end(found: Attributed, *, interrupted: bool, cached: bool) -> None:
    """End the command with the status of the contract.

    Args:
        found: What was found.
        interrupted: Whether somebody stopped the command.
        cached: Whether answers are kept for the next run.

    Raises:
        Exit: Unless everything went well.
    """
    if found.refusal is not None:
        say(f"Error: the run was stopped: {one_line(str(found.refusal))}", "bold red")
    if found.fault is not None:
        what = "not everything" if found.stored else "nothing"
        say(f"Error: {what} was stored: {one_line(str(found.fault))}", "bold red")
    if any(one.status is not Status.SUCCEEDED or one.error for one in found.run.sentences):
        run = found.run
        say(f"To go on: veritrail attribute {run.process_id} --resume {run.run_id}", "yellow")
    if interrupted:
        say("Interrupted: what was finished is stored.", "yellow")
        raise Exit(INTERRUPTED)
    if found.refusal is not None:
        raise Exit(UNREACHABLE)
    left = [one for one in found.run.sentences if one.status is not Status.SUCCEEDED]
    if left:
        reasons = list(dict.fromkeys(one_line(one.error or "").rstrip(".") for one in left))
        more = f" (and {len(reasons) - 1:,} other reason(s), above)" if len(reasons) > 1 else ""
        spent = any(one.status is Status.OVER_BUDGET for one in left)
        again = "with a higher limit" if spent else "again"
        advice = (
            f"Run the command {again}{': answers are cached and cost nothing' if cached else ''}."
        )
        if all(_is_too_long(one) for one in left):
            advice = "Name a model with a larger context window (--model)."
        say(f"{len(left):,} sentence(s) did not succeed: {reasons[0]}{more}. {advice}", "red")
    lacking = [one for one in found.run.sentences if one.status is Status.SUCCEEDED and one.error]
    if lacking:
        words = f"{len(lacking):,} sentence(s) are stored, but their judgement or correction failed"
        advice = "; see above."
        if any(_is_too_long(one) for one in lacking):
            advice = (
                ": the sources are too long. Name a model with a larger context window, or take "
                "--mode attribution, which shows the attributed sentences alone."
            )
        say(f"{words}{advice}", "red")
    if left or lacking or found.fault is not None:
        raise Exit(NOT_ALL_SUCCEEDED)
