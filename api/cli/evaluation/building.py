"""`veritrail eval summarise`, `chunk`, `match`, `duplicates` and `questions`: making data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.evaluation.asking import (
    Asked,
    AskOptions,
    about_run,
    named_texts,
    process_id_of,
    tell_run,
    with_model,
    write_json,
)
from veritrail_graph.api.cli.exits import NOT_ALL_SUCCEEDED, Exit
from veritrail_graph.api.cli.options import AsJson, Budget, EngineName, MaxCalls, Model, NoCache
from veritrail_graph.api.cli.options import Price as PriceOption
from veritrail_graph.api.cli.terminal import print_json, say
from veritrail_graph.evaluation.building.chunks import ENCODINGS
from veritrail_graph.evaluation.building.steps import Variant
from veritrail_graph.evaluation.whole_file import (
    make_folder,
    refuse_overwriting,
    write_json_lines,
)
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, shown

if TYPE_CHECKING:
    from veritrail_graph.evaluation.datasets.model import Dataset as LoadedDataset
    from veritrail_graph.evaluation.datasets.model import LabelledClaim

Sources = Annotated[list[Path], typer.Argument(metavar="SOURCE…", help="Text files in UTF-8.")]
Dataset = Annotated[Path, typer.Argument(metavar="DATASET", help="A data set.")]
Output = Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="What is written.")]
Prompts = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Prompts in place of ours: files STEP.VERSION.md."),
]
Accepted = Annotated[
    Path | None,
    typer.Option(metavar="CSV", help="Read a reviewed table, and write the result."),
]
EncodingName = Annotated[
    str, typer.Option(metavar="NAME", help=f"What counts tokens: {' or '.join(ENCODINGS)}.")
]
ChunkTokens = Annotated[int, typer.Option(min=1, metavar="N", help="Tokens of a chunk.")]
OverlapTokens = Annotated[
    int, typer.Option(min=0, metavar="N", help="Tokens that the next chunk repeats.")
]
ContextTokens = Annotated[
    int, typer.Option(min=1, metavar="N", help="Tokens of a prompt with its answer.")
]
SummaryTokens = Annotated[
    int, typer.Option(min=1, metavar="N", help="Tokens of a summary, at most.")
]
NoContext = Annotated[
    bool, typer.Option("--no-context", help="Merges are not given the summary before them.")
]
CHUNK_TOKENS, CONTEXT_TOKENS, SUMMARY_TOKENS, ENCODING = 2_048, 8_192, 1_200, "cl100k_base"
"""Sizes of a hierarchical summary. Source: VeriTrail B.1.1; the summary's is ours."""


def summarise(
    sources: Sources,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="RUN", help="The process file; of several sources a folder."
        ),
    ],
    chunk: ChunkTokens = CHUNK_TOKENS,
    context: ContextTokens = CONTEXT_TOKENS,
    summary: SummaryTokens = SUMMARY_TOKENS,
    encoding: EncodingName = ENCODING,
    no_context: NoContext = False,
    engine: EngineName = None,
    model: Model = None,
    prompts: Prompts = None,
    budget: Budget = None,
    max_calls: MaxCalls = None,
    price: PriceOption = None,
    no_cache: NoCache = False,
    as_json: AsJson = False,
) -> None:
    """Summarise texts level by level, as a process to verify.

    Chunks are summarised, and summaries merged until one is left. Answers are kept, so a run that
    was stopped goes on where it ended.
    """
    from veritrail_graph.evaluation.building.steps import BuildStep
    from veritrail_graph.evaluation.building.summaries import Summariser, SummaryOptions

    texts = named_texts(sources)
    options = SummaryOptions(chunk, context, summary, encoding, not no_context)
    targets = _targets(texts, output)
    refuse_overwriting(targets, sources)

    async def work(asked: Asked) -> list[dict[str, Any]]:
        made = []
        for (name, text), target in zip(texts.items(), targets, strict=True):
            summariser = Summariser(
                asked.step(BuildStep.CHUNK_SUMMARY),
                asked.step(BuildStep.SUMMARY_MERGE),
                options,
                asked.splitter.split,
                asked.meter,
                lambda level, done, total, name=name: asked.work.update(  # type: ignore[misc]
                    f"{name}, level {level}", done, total
                ),
            )
            document = await summariser.summarise(name, process_id_of(name), text)
            write_json(target, document)
            made.append(about_run(target, document))
        return made

    how = AskOptions(engine, model, prompts, budget, max_calls, price, no_cache)
    runs, usage = with_model(how, work, as_json=as_json)
    for one in runs:
        tell_run(one)
    if as_json:
        print_json({"runs": runs, "usage": usage})


def chunk(
    sources: Sources,
    output: Output,
    size: ChunkTokens = 600,
    overlap: OverlapTokens = 100,
    encoding: EncodingName = "o200k_base",
    as_json: AsJson = False,
) -> None:
    """Cut texts into chunks of a given number of tokens.

    The output is JSON Lines of document, chunk, start, end, tokens and text.
    """
    from veritrail_graph.evaluation.building.chunks import Encoding, token_chunks

    refuse_overwriting([output], sources)
    tokenizer = Encoding(encoding)
    lines = []
    texts = named_texts(sources)
    for name, text in texts.items():
        for number, one in enumerate(token_chunks(text, size, overlap, encoding=tokenizer)):
            lines.append(
                {
                    "document": name,
                    "chunk": number,
                    "start": one.start,
                    "end": one.end,
                    "tokens": one.tokens,
                    "text": text[one.start : one.end],
                }
            )
    write_json_lines(output, lines)
    say(f"{len(lines):,} chunks of {len(texts):,} text(s) in {output}.", "bold")
    if as_json:
        print_json({"output": str(output), "documents": len(texts), "chunks": len(lines)})


def match(
    dataset: Dataset,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Matches to review; with --accepted a data set."
        ),
    ] = None,
    faithful: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="What was found faithful: premise; evidence, reasoning, process_id, book or "
            "question.",
        ),
    ] = None,
    variant: Annotated[
        Variant, typer.Option(help="Whether premises tell of a book or answer a question.")
    ] = Variant.BOOK,
    accepted: Accepted = None,
    alignment: Annotated[
        bool,
        typer.Option(
            "--alignment", help="With --accepted: compare labels with matches; write nothing."
        ),
    ] = False,
    engine: EngineName = None,
    model: Model = None,
    prompts: Prompts = None,
    budget: Budget = None,
    max_calls: MaxCalls = None,
    price: PriceOption = None,
    no_cache: NoCache = False,
    as_json: AsJson = False,
) -> None:
    """Find claims that follow from statements found faithful.

    First with --faithful: a table of matches with an empty column accept. Then with --accepted:
    claims whose row says yes are labelled FULLY_SUPPORTED, their origin is `matched`.
    """
    from veritrail_graph.evaluation.building import matching
    from veritrail_graph.evaluation.datasets.loading import load_unlabelled

    if (faithful is None) == (accepted is None):
        raise InputError("Name either --faithful or --accepted.")
    if alignment and accepted is None:
        raise InputError("--alignment goes with --accepted.")
    if output is None and not alignment:
        raise InputError("Name what is written with -o.")
    loaded = load_unlabelled(dataset)
    if accepted is not None or faithful is None:
        document = _accepted(loaded, accepted or dataset, None if alignment else output)
        if as_json:
            print_json(document)
        return
    target = output or dataset
    if target.exists():
        raise InputError(f"{target} is there already, and may hold decisions; name another file.")
    premises = matching.read_premises(faithful, variant)
    unknown = matching.without_process(premises, loaded.processes)
    for process_id, rows in list(unknown.items())[: matching.MOST_NAMED]:
        say(
            f"{faithful}: {counted(len(rows), 'premise')} of process {shown(process_id)}, which "
            f"the data set lacks, left out; the first in row {rows[0]:,}.",
            "yellow",
        )
    claims = [one for one in loaded.claims if one.label is None] or list(loaded.claims)
    about = _subjects(loaded, claims, variant)

    async def work(asked: Asked) -> matching.Matching:
        return await matching.match_claims(
            claims,
            premises,
            about,
            variant,
            asked.step(variant.step),
            asked.meter,
            lambda done, total: asked.work.update("claims", done, total),
        )

    how = AskOptions(engine, model, prompts, budget, max_calls, price, no_cache)
    found, usage = with_model(how, work, as_json=as_json)
    # An empty table of a run that failed would stop the next one, which replaces no file.
    is_written = bool(found.matches) or not found.failed
    if is_written:
        matching.write_matches(found, target)
    review = f"review {target}" if is_written else "no table was written"
    say(f"{len(found.matches):,} of {found.asked:,} claims match; {review}.", "bold")
    if found.failed_calls:
        say(f"{found.failed_calls:,} of {counted(found.calls, 'call')} failed.", "yellow")
    if found.without_premise:
        say(f"{found.without_premise:,} claim(s) have no premise of their process.", "yellow")
    for (_, claim_id), reason in list(found.failed.items())[:5]:
        say(f"{claim_id}: {reason}", "yellow")
    if as_json:
        print_json(
            {
                "output": str(target) if is_written else None,
                "asked": found.asked,
                "matched": len(found.matches),
                "without_premise": found.without_premise,
                "unknown_processes": {name: len(rows) for name, rows in unknown.items()},
                "failed": len(found.failed),
                "usage": usage,
            }
        )
    if found.failed:
        raise Exit(NOT_ALL_SUCCEEDED)


def _accepted(loaded: LoadedDataset, accepted: Path, output: Path | None) -> dict[str, Any]:
    """Label the accepted matches; without an output compare them with labels."""
    from veritrail_graph.evaluation.building import matching
    from veritrail_graph.evaluation.datasets.dataset_file import write_dataset

    keys = matching.read_accepted(accepted, loaded, as_labels=output is not None)
    if output is not None:
        write_dataset(replace(loaded, claims=matching.with_matches(loaded, keys)), output)
        say(f"{len(keys):,} claim(s) are labelled by their match, in {output}.", "bold")
        return {"output": str(output), "matched": len(keys)}
    found = matching.alignment(loaded, keys)
    share = found["aligned_share"]
    aligned = "-" if share is None else f"{share:.1%}"
    say(
        f"{found['matched']:,} of {found['claims']:,} claims match; {aligned} of those with a "
        "label are Fully Supported.",
        "bold",
    )
    return found


def duplicates(
    dataset: Dataset, output: Output, accepted: Accepted = None, as_json: AsJson = False
) -> None:
    """List claims that say nearly the same, for a person to decide.

    The table has a column remove; with --accepted claims whose row says yes are removed. Words
    are compared, no model is asked.
    """
    from veritrail_graph.evaluation.building.duplicates import write_duplicates
    from veritrail_graph.evaluation.building.matching import read_accepted
    from veritrail_graph.evaluation.datasets.dataset_file import write_dataset
    from veritrail_graph.evaluation.datasets.loading import load_unlabelled

    loaded = load_unlabelled(dataset)
    if accepted is None:
        count = write_duplicates(loaded, output)
        say(f"{count:,} near-duplicate(s) of {len(loaded.claims):,} claims in {output}.", "bold")
        document = {"output": str(output), "claims": len(loaded.claims), "near_duplicates": count}
    else:
        keys = read_accepted(accepted, loaded, "remove")
        kept = tuple(one for one in loaded.claims if one.key not in keys)
        write_dataset(replace(loaded, claims=kept), output)
        say(f"{len(keys):,} claim(s) removed, {len(kept):,} kept, in {output}.", "bold")
        document = {"output": str(output), "claims": len(kept), "removed": len(keys)}
    if as_json:
        print_json(document)


def questions(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A table with a column question.")],
    output: Output,
    review: Annotated[
        bool,
        typer.Option("--reviewed", help="TABLE is reviewed: write the questions marked keep."),
    ] = False,
    engine: EngineName = None,
    model: Model = None,
    prompts: Prompts = None,
    budget: Budget = None,
    max_calls: MaxCalls = None,
    price: PriceOption = None,
    no_cache: NoCache = False,
    as_json: AsJson = False,
) -> None:
    """Propose which questions to keep, for a person to decide.

    Questions that ask for opinions or cannot be understood alone are not proposed. The table that
    is written has a column keep; with --reviewed those with a yes are written.
    """
    from veritrail_graph.evaluation.building import questions as filters
    from veritrail_graph.evaluation.building.review import write_review
    from veritrail_graph.evaluation.building.steps import BuildStep

    if review:
        kept = filters.read_kept(table)
        write_review(output, ("question",), ({"question": one} for one in kept))
        say(f"{len(kept):,} questions in {output}.", "bold")
        if as_json:
            print_json({"output": str(output), "kept": len(kept)})
        return
    asked_of = filters.read_questions(table)
    if output.exists():
        raise InputError(f"{output} is there already, and may hold decisions; name another file.")

    async def work(asked: Asked) -> list[filters.FilteredQuestion]:
        return await filters.filter_questions(
            asked_of,
            asked.step(BuildStep.QUESTION_FILTER),
            asked.meter,
            lambda done, total: asked.work.update("questions", done, total),
        )

    how = AskOptions(engine, model, prompts, budget, max_calls, price, no_cache)
    found, usage = with_model(how, work, as_json=as_json)
    filters.write_questions(found, output)
    counts = {
        "questions": len(found),
        "proposed": sum(one.is_kept is True for one in found),
        "asks_opinion": sum(one.asks_opinion is True for one in found),
        "needs_context": sum(one.stands_alone is False for one in found),
        "failed": sum(one.is_kept is None for one in found),
    }
    say(f"{counts['proposed']:,} of {len(found):,} questions pass; review {output}.", "bold")
    if counts["failed"]:
        say(f"{counts['failed']:,} question(s) got no answer.", "yellow")
    if as_json:
        print_json({"output": str(output), **counts, "usage": usage})
    if counts["failed"]:
        raise Exit(NOT_ALL_SUCCEEDED)


def _targets(texts: dict[str, str], output: Path) -> list[Path]:
    if len(texts) == 1 and not output.is_dir():
        return [output]
    make_folder(output)
    return [output / f"{name}.json" for name in texts]


def _subjects(
    loaded: LoadedDataset, claims: Sequence[LabelledClaim], variant: Variant
) -> dict[str, str | None]:
    """The book that a claim's process summarises, or the question that its answer answers."""
    from veritrail_graph.evaluation.annotation.folders import folders_of
    from veritrail_graph.evaluation.annotation.grouping import Grouping

    if variant is Variant.BOOK:
        names = {one: loaded.processes[one]().header.name for one in loaded.processes}
        return {"/".join(one.key): names[one.process_id] for one in claims}
    folders = folders_of(loaded, claims, Grouping.QUESTION)
    return {"/".join(one.key): each.question for each in folders for one in each.claims}
