"""`veritrail eval graphrag`: answers by the method of GraphRAG, as processes to verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_eval.building.options import GraphRagOptions
from veritrail_eval.cli.asking import (
    AskOptions,
    ChunkTokens,
    ContextTokens,
    EncodingName,
    OverlapTokens,
    tell_run,
    with_builder,
)
from veritrail_eval.cli.building import Sources
from veritrail_eval.cli.options import grouped
from veritrail_graph.api.cli.exits import NOT_ALL_SUCCEEDED, Exit
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_eval.app.building import EstimatedAnswers, WrittenRuns

_USUAL = GraphRagOptions()


@grouped
def graphrag(
    sources: Sources,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="RUN", help="The process file; of several questions a folder."
        ),
    ],
    question: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="What is asked; may be repeated."),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="Questions: a table with a column question."),
    ] = None,
    chunk: ChunkTokens = _USUAL.chunk_tokens,
    overlap: OverlapTokens = _USUAL.overlap_tokens,
    encoding: EncodingName = _USUAL.encoding,
    context: ContextTokens = _USUAL.context_tokens,
    report: Annotated[
        int,
        typer.Option(min=100, metavar="N", help="Tokens of the report of a community, at most."),
    ] = _USUAL.report_tokens,
    community_size: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="A community of more entities is split further."),
    ] = _USUAL.community_size,
    community_level: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Reports up to this level are asked; 0: coarsest."),
    ] = _USUAL.community_level,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Seed of communities and order of reports.")
    ] = 0,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Say what it would cost, and ask no model.")
    ] = False,
    *,
    asked: AskOptions,
    as_json: AsJson = False,
) -> None:
    """Answer questions as GraphRAG does, as processes to verify.

    An index is made of the texts: entities, relationships, reports about communities. Each
    question is answered from the reports. Answers are kept, so a run that was stopped goes on where
    it ended.
    """
    given = question or []
    if not given and questions is None:
        raise InputError("No question: name one with --question, or a table with --questions.")
    options = GraphRagOptions(
        chunk, overlap, context, report, encoding, community_size, community_level, seed
    )
    if estimate:
        likely = with_builder(
            asked,
            lambda one: one.estimate_answers(sources, given, questions, options),
            as_json=as_json,
        )
        if as_json:
            print_json(likely.as_json())
        else:
            _tell_estimate(likely)
        return
    made = with_builder(
        asked, lambda one: one.answer(sources, given, questions, output, options), as_json=as_json
    )
    _tell(made)
    if as_json:
        print_json(made.as_json())
    if made.failed:
        raise Exit(NOT_ALL_SUCCEEDED)


def _tell(made: WrittenRuns) -> None:
    """Say what was made, and each warning once."""
    for one in made.runs:
        tell_run(one)
    told = (warning for one in made.runs for warning in one.document["warnings"])
    for warning in dict.fromkeys(told):
        say(one_line(clean(warning)), "yellow")
    for question, error in (made.failed or {}).items():
        say(one_line(clean(f"{question}: no answer: {error}")), "yellow")


def _tell_estimate(likely: EstimatedAnswers) -> None:
    from veritrail_graph.api.show.costs import cost_words

    about = f"{counted(likely.chunks, 'chunk')}, {counted(likely.questions, 'question')}"
    usage = likely.usage
    say(
        f"{about}: likely {usage.calls:,} calls, {usage.input_tokens:,} tokens of prompts, "
        f"{usage.output_tokens:,} of answers, {cost_words(usage)}.",
        "bold",
    )
    say("Likely figures, from assumed answers; no call was made. --json lists what is assumed.")
