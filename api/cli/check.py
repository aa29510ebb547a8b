"""`veritrail check`: is an answer supported by the texts that it was made from?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.exits import say_starting
from veritrail_graph.api.cli.ingest import ingest_paths, public_id, store_and_tell
from veritrail_graph.api.cli.options import RECORDED, AsJson, judging, recording_settings
from veritrail_graph.api.show.texts import some
from veritrail_graph.graph.errors import InputError, VeriTrailError

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.cli.ingest import Outcome
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.importers.draft import Draft

STDIN = Path("-")


@judging(
    "q", "engine", "verdict_engine", "model", "budget", "max_calls", "price", "no_cache",
    "recorded", "record", "concurrency",
)  # fmt: skip
def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH…]",
            help="With --answer: more sources. Else a log of (question, contexts, answer): CSV, "
            "JSON, JSON Lines or parquet.",
            show_default=False,
        ),
    ] = None,
    answer: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The answer, a text file; `-` reads stdin."),
    ] = None,
    sources: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="What it was made from: text files, or folders of them."),
    ] = None,
    question: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The question that it answers.")
    ] = None,
    process_id: Annotated[
        str | None,
        typer.Option("--process-id", metavar="ID", help="Store it under this process_id."),
    ] = None,
    chunk_words: Annotated[
        int,
        typer.Option(min=20, max=100_000, metavar="N", help="Words of a chunk of a source."),
    ] = 200,
    *,
    as_json: AsJson = False,
    **how: Any,
) -> None:
    """Check an answer against the texts that it was made from.

    The sources are cut into chunks and stored with the answer as a process; its claims are
    extracted with the model, or are its sentences that state something where no model is named;
    each is verified.
    """
    from veritrail_graph.api.app.engine import begin_engine
    from veritrail_graph.api.app.engines import asks_model
    from veritrail_graph.api.app.ingesting import IngestOptions

    settings = recording_settings(dict(how))
    answers_given = how["recorded"] is not None and how["model"] is None
    asks = asks_model(
        settings, how["engine"] or (RECORDED if answers_given else None), how["model"]
    )
    options = IngestOptions(
        process_id=None if process_id is None else public_id(process_id, "--process-id"),
        force=True,
        format=None if answer is not None else "rag",
        stated=not asks,
    )
    given = [*(sources or ()), *(paths or ())]
    if answer is None and (sources or question is not None):
        raise InputError("Name the answer to check: --answer FILE (`-` reads it from stdin).")
    if not given:
        raise InputError(
            "Name what the answer was made from: --answer a.txt --sources docs/*.md"
            if answer is not None
            else "Name an answer and its sources (--answer a.txt --sources docs/*.md), or a log of "
            "questions, contexts and answers."
        )
    made = None
    if answer is not None:
        made = _made(settings, answer, given, question, chunk_words)
        begin_engine(settings, say_starting)

    async def storing(app: Application, outcomes: list[Outcome]) -> VeriTrailError | None:
        if made is None:
            return await ingest_paths(app, given, options, outcomes)
        outcomes.append((str(answer), await app.processes.ingest_source(made, options)))
        return None

    store_and_tell(
        storing,
        {"extract": asks, **how},
        nothing=f"{some([str(path) for path in given])}: there is no row in it",
        as_json=as_json,
    )


def _made(
    settings: Settings, answer: Path, sources: list[Path], question: str | None, words: int
) -> Draft:
    """The process of an answer and its sources.

    Raises:
        InputError: A text cannot be read, or is none.
    """
    from veritrail_graph.graph.importers.plain import (
        PlainText,
        answer_over,
        read_sources,
        read_stdin,
        read_text,
    )
    from veritrail_graph.graph.sentences import SentenceSplitter

    splitter = SentenceSplitter.for_language(settings.language)
    text = read_stdin() if answer == STDIN else read_text(answer)
    name = "stdin" if answer == STDIN else answer.name
    return answer_over(
        PlainText(name, text), read_sources(sources), splitter, question=question, words=words
    )
