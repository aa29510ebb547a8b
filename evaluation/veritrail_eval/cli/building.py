"""`veritrail eval summarise`, `chunk`, `match`, `duplicates` and `questions`: making data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_eval.building.options import GraphRagOptions
from veritrail_eval.building.steps import Variant
from veritrail_eval.cli.asking import (
    AskOptions,
    ChunkTokens,
    EncodingName,
    OverlapTokens,
    SummarySizes,
    tell_run,
    with_builder,
)
from veritrail_eval.cli.options import DrawSeed, grouped
from veritrail_graph.api.cli.exits import NOT_ALL_SUCCEEDED, Exit
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_eval.app.building import MatchedClaims

Sources = Annotated[list[Path], typer.Argument(metavar="SOURCE…", help="Text files in UTF-8.")]
Dataset = Annotated[Path, typer.Argument(metavar="DATASET", help="A data set.")]
Output = Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="What is written.")]
Accepted = Annotated[
    Path | None,
    typer.Option(metavar="CSV", help="Read a reviewed table, and write the result."),
]
_USUAL = GraphRagOptions()


@grouped
def summarise(
    sources: Sources,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="RUN", help="The process file; of several sources a folder."
        ),
    ],
    *,
    sizes: SummarySizes,
    asked: AskOptions,
    as_json: AsJson = False,
) -> None:
    """Summarise texts level by level, as a process to verify.

    Chunks are summarised, and summaries merged until one is left. Answers are kept, so a run that
    was stopped goes on where it ended.
    """
    summarise_and_show(sources, output, sizes, asked, as_json=as_json)


def summarise_and_show(
    sources: list[Path], output: Path, sizes: SummarySizes, asked: AskOptions, *, as_json: bool
) -> None:
    """Do what `eval summarise` and `eval build --summarise` do."""
    made = with_builder(
        asked, lambda one: one.summarise(sources, output, sizes.options), as_json=as_json
    )
    for one in made.runs:
        tell_run(one)
    if as_json:
        print_json(made.as_json())


def chunk(
    sources: Sources,
    output: Output,
    size: ChunkTokens = _USUAL.chunk_tokens,
    overlap: OverlapTokens = _USUAL.overlap_tokens,
    encoding: EncodingName = _USUAL.encoding,
    as_json: AsJson = False,
) -> None:
    """Cut texts into chunks of a given number of tokens.

    The output is JSON Lines of document, chunk, start, end, tokens and text.
    """
    from veritrail_eval.app.datasets import chunk_texts

    texts, chunks = chunk_texts(sources, output, size, overlap, encoding)
    say(f"{chunks:,} chunks of {texts:,} text(s) in {output}.", "bold")
    if as_json:
        print_json({"output": str(output), "documents": texts, "chunks": chunks})


@grouped
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
            "question. Or FABLES.json.",
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
    *,
    asked: AskOptions,
    as_json: AsJson = False,
) -> None:
    """Find claims that follow from statements found faithful.

    First with --faithful: a table of matches with an empty column accept. Then with --accepted:
    claims whose row says yes are labelled FULLY_SUPPORTED, their origin is `matched`.
    """
    from veritrail_eval.app.datasets import accept_matches, matches_and_labels

    if (faithful is None) == (accepted is None):
        raise InputError("Name either --faithful or --accepted.")
    if alignment and accepted is None:
        raise InputError("--alignment goes with --accepted.")
    if output is None and not alignment:
        raise InputError("Name what is written with -o.")
    document: dict[str, Any] = {}
    if accepted is not None and output is not None and not alignment:
        matched = accept_matches(dataset, accepted, output)
        say(f"{matched:,} claim(s) are labelled by their match, in {output}.", "bold")
        document = {"output": str(output), "matched": matched}
    elif accepted is not None:
        document = matches_and_labels(dataset, accepted)
        share = document["aligned_share"]
        aligned = "-" if share is None else f"{share:.1%}"
        say(
            f"{document['matched']:,} of {document['claims']:,} claims match; {aligned} of those "
            "with a label are Fully Supported.",
            "bold",
        )
    elif faithful is not None and output is not None:
        table, target = faithful, output
        made = with_builder(
            asked, lambda one: one.match(dataset, table, variant, target), as_json=as_json
        )
        _tell_matches(made, target)
        document = made.as_json()
    if as_json:
        print_json(document)
    if document.get("failed"):
        raise Exit(NOT_ALL_SUCCEEDED)


def _tell_matches(made: MatchedClaims, target: Path) -> None:
    found = made.found
    review = "no table was written" if made.output is None else f"review {target}"
    say(f"{len(found.matches):,} of {found.asked:,} claims match; {review}.", "bold")
    if found.failed_calls:
        say(f"{found.failed_calls:,} of {counted(found.calls, 'call')} failed.", "yellow")
    if found.without_premise:
        say(f"{found.without_premise:,} claim(s) have no premise of their process.", "yellow")
    for (_, claim_id), reason in list(found.failed.items())[:5]:
        say(f"{claim_id}: {reason}", "yellow")


def duplicates(
    dataset: Dataset, output: Output, accepted: Accepted = None, as_json: AsJson = False
) -> None:
    """List claims that say nearly the same, for a person to decide.

    The table has a column remove; with --accepted claims whose row says yes are removed. Words
    are compared, no model is asked.
    """
    from veritrail_eval.app.datasets import list_duplicates, remove_duplicates

    if accepted is None:
        claims, count = list_duplicates(dataset, output)
        say(f"{count:,} near-duplicate(s) of {claims:,} claims in {output}.", "bold")
        document = {"output": str(output), "claims": claims, "near_duplicates": count}
    else:
        kept, removed = remove_duplicates(dataset, accepted, output)
        say(f"{removed:,} claim(s) removed, {kept:,} kept, in {output}.", "bold")
        document = {"output": str(output), "claims": kept, "removed": removed}
    if as_json:
        print_json(document)


@grouped
def questions(
    table: Annotated[
        Path,
        typer.Argument(metavar="TABLE", help="A table with a column question, or DiverseSumm."),
    ],
    output: Output,
    review: Annotated[
        bool,
        typer.Option("--reviewed", help="TABLE is reviewed: write the questions marked keep."),
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="With --reviewed: draw N of them, each from another story."
        ),
    ] = None,
    seed: DrawSeed = 0,
    *,
    asked: AskOptions,
    as_json: AsJson = False,
) -> None:
    """Propose which questions to keep, for a person to decide.

    Questions that ask for opinions or cannot be understood alone are not proposed. The table that
    is written has a column keep; with --reviewed those with a yes are written.
    """
    from veritrail_eval.app.datasets import keep_questions

    if review:
        kept = keep_questions(table, output, sample, seed)
        say(f"{kept:,} questions in {output}.", "bold")
        if as_json:
            print_json({"output": str(output), "kept": kept})
        return
    if sample is not None:
        raise InputError("--sample goes with --reviewed.")
    made = with_builder(asked, lambda one: one.propose_questions(table, output), as_json=as_json)
    counts = made.counts
    say(
        f"{counts['proposed']:,} of {counts['questions']:,} questions pass; review {output}.",
        "bold",
    )
    if counts["failed"]:
        say(f"{counts['failed']:,} question(s) got no answer.", "yellow")
    if as_json:
        print_json(made.as_json())
    if counts["failed"]:
        raise Exit(NOT_ALL_SUCCEEDED)
