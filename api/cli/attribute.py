"""`veritrail attribute`: what each sentence rests on, also when it is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.exits import (
    INTERRUPTED,
    NOT_ALL_SUCCEEDED,
    UNREACHABLE,
    Exit,
    ask,
    fault_json,
    on_ctrl_c,
)
from veritrail_graph.api.cli.options import (
    AsJson,
    Budget,
    EngineName,
    MaxCalls,
    Model,
    NoCache,
    Price,
    ProcessId,
    PromptsFolder,
    Structured,
)
from veritrail_graph.api.cli.terminal import LongWork, long_work, print_json, say, show
from veritrail_graph.api.views.texts import clean, one_line
from veritrail_graph.api.views.words import CATEGORY_WORDS, FAITHFULNESS_WORDS, INDICATIVE
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.attribution import Against, Faithfulness, SourceMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.text import Text

    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.attribution import Attributed, AttributeOptions
    from veritrail_graph.graph.model import Usage
    from veritrail_graph.graph.model.attribution import NodeAttribution, SentenceAttribution

_STYLE = {Faithfulness.FAITHFUL: "green", Faithfulness.UNFAITHFUL: "red"}


def attribute(
    process: ProcessId,
    node: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NODE", help="A node; may be repeated. Default: the terminals of the process."
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
    budget: Budget = None,
    max_calls: MaxCalls = None,
    price: Price = None,
    prompts: PromptsFolder = None,
    structured: Structured = False,
    no_cache: NoCache = False,
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=256, metavar="N", help="Concurrent model calls.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what each sentence of a node rests on in its sources, also when it is wrong.

    For each sentence, the fewest source sentences that decide whether it is faithful: evidence,
    contradictions, near matches, or the place where its content would be expected. What was found
    is stored; the texts stay as they are.
    """
    from veritrail_graph.api.app.attribution import AttributeOptions
    from veritrail_graph.api.models import ModelOptions

    models = ModelOptions(
        model=model,
        concurrency=concurrency,
        price=price,
        budget=budget,
        max_calls=max_calls,
        structured=structured,
        use_cache=not no_cache,
    )
    options = AttributeOptions(
        tuple(node or ()), against, engine, models, judge, correct, mode, prompts
    )
    watch = _Watch()
    found = ask(lambda app: _attribute(app, process, options, watch), as_json=as_json)
    for warning in found.warnings:
        say(f"Warning: {one_line(warning)}", "yellow")
    if as_json:
        print_json(as_document(found))
    else:
        tell(found)
    _end(found, interrupted=watch.was_interrupted())


async def _attribute(
    app: Application, process_id: str, options: AttributeOptions, watch: _Watch
) -> Attributed:
    from veritrail_graph.api.app.attribution import AttributionProgress

    with long_work() as work:
        watch.work = work
        progress = AttributionProgress(watch.begins, watch.sentence_done, watch.call_made)
        return await app.attributions.attribute(process_id, options, progress)


class _Watch:
    """Turns what happens into progress, and Ctrl-C into the end of the attribution."""

    def __init__(self) -> None:
        self.work: LongWork | None = None
        self.was_interrupted: Callable[[], bool] = lambda: False
        self._done = self._sentences = self._calls = 0

    def begins(self, stop: Callable[[], None], sentences: int) -> None:
        """The attribution begins."""
        self._sentences = sentences
        self.was_interrupted = on_ctrl_c(stop)

    def sentence_done(self, _sentence: SentenceAttribution) -> None:
        """A sentence has ended."""
        self._done += 1
        self._show()

    def call_made(self, usage: Usage) -> None:
        """A model answered, or the cache did."""
        self._calls += usage.calls + usage.cached_calls
        self._show()

    def _show(self) -> None:
        if self.work is not None:
            note = f"{self._calls:,} answers" if self._calls else ""
            self.work.update("sentences", self._done, self._sentences, note)


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
    from veritrail_graph.api.views.costs import usage_words

    for node in found.run.nodes:
        show(node_text(node))
    sentences = found.run.sentences
    done = [one for one in sentences if one.status is Status.SUCCEEDED]
    counts = [sum(one.label is label for one in done) for label in Faithfulness]
    words = f"{len(sentences):,} sentence(s): {counts[0]:,} faithful, {counts[1]:,} unfaithful"
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
        say(f"Engine {found.run.engine}: {INDICATIVE}.", "yellow")


def node_text(node: NodeAttribution) -> Text:
    """The sentences of a node, each with the source sentences that decide it."""
    from rich.text import Text

    shown = Text(one_line(node.node_id, 80), style="bold")
    for one in node.sentences:
        shown.append(f"\n{one.sentence:>4}  ", style="not bold dim")
        shown.append(*_label(one))
        shown.append(f"  {one_line(clean(one.text))}", style="not bold")
        for source in one.attributed:
            categories = " + ".join(CATEGORY_WORDS[category] for category in source.categories)
            place = f"{one_line(source.node_id, 40)} {source.sentence}"
            text = one_line(clean(source.text))
            shown.append(f"\n        {categories}: {place}: {text}", style="not bold dim")
        for line in _remarks(one):
            shown.append(f"\n        {line}", style="not bold")
    return shown


def _label(one: SentenceAttribution) -> tuple[str, str]:
    """The label of a sentence, or the status where it did not succeed, and its style."""
    if one.status is not Status.SUCCEEDED or one.label is None:
        return one.status.value.replace("_", " "), "not bold magenta"
    return FAITHFULNESS_WORDS[one.label], f"not bold {_STYLE[one.label]}"


def _remarks(one: SentenceAttribution) -> list[str]:
    lines = []
    if one.status is Status.SUCCEEDED and not one.attributed:
        lines.append("no source sentence decides it")
    if one.is_disputed and one.implied_label is not None:
        lines.append(f"the attribution implies: {FAITHFULNESS_WORDS[one.implied_label]}")
    if one.judged_reason:
        lines.append(f"judge: {one_line(clean(one.judged_reason))}")
    if one.correction is not None:
        again = one.corrected_label
        judged = f" (judged {FAITHFULNESS_WORDS[again]})" if again is not None else ""
        lines.append(f"proposed: {one_line(clean(one.correction))}{judged}")
    if one.error is not None:
        lines.append(one_line(clean(one.error)))
    return lines


def _end(found: Attributed, *, interrupted: bool) -> None:
    """End the command with the status of the contract.

    Raises:
        Exit: Unless everything went well.
    """
    if found.refusal is not None:
        say(f"Error: the run was stopped: {one_line(str(found.refusal))}", "bold red")
    if found.fault is not None:
        say(f"Error: nothing was stored: {one_line(str(found.fault))}", "bold red")
    if interrupted:
        say("Interrupted: what was finished is stored.", "yellow")
        raise Exit(INTERRUPTED)
    if found.refusal is not None:
        raise Exit(UNREACHABLE)
    left = [one for one in found.run.sentences if one.status is not Status.SUCCEEDED]
    if left:
        reason = one_line(left[0].error or "")
        say(
            f"{len(left):,} sentence(s) did not succeed: {reason}. Run the command again: answers "
            "are cached and cost nothing.",
            "red",
        )
    if left or found.fault is not None:
        raise Exit(NOT_ALL_SUCCEEDED)
