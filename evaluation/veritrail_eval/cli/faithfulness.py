"""`veritrail eval faithfulness`: how right a judge is, with and without attribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_eval.cli.options import (
    INTERRUPTION,
    Seed,
    end_unless_whole,
    say_reasons,
    shown_figure,
)
from veritrail_graph.api.cli.exits import run as run_work
from veritrail_graph.api.cli.options import (
    AsJson,
    Budget,
    Concurrency,
    EngineName,
    JudgeThreshold,
    MaxCalls,
    Model,
    NoCache,
    Price,
    PromptsFolder,
    ReasoningEffort,
    Structured,
    model_options,
)
from veritrail_graph.api.cli.terminal import long_work, print_json, say, table
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.graph.model.attribution import JudgeName, SourceMode

if TYPE_CHECKING:
    from veritrail_eval.app.faithfulness import JudgedSetUps, SetUpFiles, WhoJudges
    from veritrail_graph.graph.model import Usage


def faithfulness(
    gold: Annotated[
        Path, typer.Argument(metavar="GOLD", help="Labelled sentences, with their attributions.")
    ],
    sources: Annotated[
        Path,
        typer.Option(metavar="FILE", help="The source texts, as for `eval attribution`."),
    ],
    attributed: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The attributions that are shown, in place of GOLD's."),
    ] = None,
    mode: Annotated[
        list[SourceMode] | None,
        typer.Option(help="What the judge sees; may be repeated. Default: all that it can read."),
    ] = None,
    documents: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            max=1_000,
            metavar="N",
            help="Among how many documents; may be repeated. Default: 1.",
        ),
    ] = None,
    others: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Texts to draw the other documents from. Default: those of GOLD's sentences.",
        ),
    ] = None,
    judge_with: Annotated[
        JudgeName, typer.Option(help="The language model, or a checker with an entailment model.")
    ] = JudgeName.MODEL,
    judge_threshold: JudgeThreshold = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Write the table, all labels (CSV) and a plot (SVG).",
        ),
    ] = None,
    seed: Seed = 0,
    engine: EngineName = None,
    model: Model = None,
    budget: Budget = None,
    max_calls: MaxCalls = None,
    price: Price = None,
    prompts: PromptsFolder = None,
    effort: ReasoningEffort = None,
    structured: Structured = False,
    no_cache: NoCache = False,
    concurrency: Concurrency = None,
    as_json: AsJson = False,
) -> None:
    """Judge labelled sentences with and without attribution.

    The figure is the balanced accuracy of each set-up. The judge sees all documents, all with the
    attributed sentences marked, or these alone. The mixed set-up, faithful sentences with their
    attribution and unfaithful ones without, is made of the answers to two others. GOLD is a file as
    for `eval attribution`, with texts and labels.
    """
    from veritrail_eval.app.faithfulness import SetUpFiles, WhoJudges

    who = WhoJudges(judge_with, judge_threshold, engine, model_options(locals()), prompts)
    files = SetUpFiles(gold, sources, attributed, others, documents or (1,), seed)
    found = run_work(_run(who, mode or (), files), as_json=as_json, interruption=INTERRUPTION)
    document = {
        "judge": found.judge,
        "sentences": found.sentences,
        "unlabelled": found.unlabelled,
        "seed": seed,
        "set_ups": [row.as_json() for row in found.rows],
        "usage": found.usage.json_object(),
    }
    for warning in found.warnings:
        say(f"Warning: {one_line(warning)}", "yellow")
    if output is not None:
        for path in found.write(output):
            say(f"Wrote {path}")
    if as_json:
        print_json(document)
    else:
        _show(document, found.usage)
    reasons = [one.reason for row in found.rows for one in row.judged if one.label is None]
    end_unless_whole(found.refusal, reasons, "judgement(s) failed and are left out of the figures")


async def _run(who: WhoJudges, modes: Sequence[SourceMode], files: SetUpFiles) -> JudgedSetUps:
    from veritrail_eval.app.faithfulness import judge_set_ups
    from veritrail_graph.api.settings import Settings

    with long_work() as work:
        return await judge_set_ups(Settings(), who, modes, files, work.update)


def _show(document: Mapping[str, Any], usage: Usage) -> None:
    from veritrail_graph.api.show.costs import usage_words

    rows = [
        [
            one["set_up"],
            "any" if one["documents"] is None else f"{one['documents']:,}",
            shown_figure(one["balanced_accuracy"]),
            f"{one['sentences']:,}",
            f"{one['not_judged']:,}",
        ]
        for one in document["set_ups"]
    ]
    columns = ("set-up", "documents", "balanced accuracy", "judged", "not judged")
    table(columns, rows, right=columns[1:])
    for one in document["set_ups"]:
        say_reasons(one, f"{one['set_up']}, ")
    say(f"{document['sentences']:,} sentences, judged by {one_line(clean(document['judge']))}.")
    if document["unlabelled"]:
        say(f"{document['unlabelled']:,} sentence(s) have no label and are left out.", "yellow")
    say(usage_words(usage), "dim")
