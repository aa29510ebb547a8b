"""The parts that commands of building share: the model that they ask, and written runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from veritrail_eval.building.options import ENCODINGS, SummaryOptions
from veritrail_graph.api.cli.exits import run as run_work
from veritrail_graph.api.cli.options import (
    Budget,
    EngineName,
    MaxCalls,
    Model,
    NoCache,
    Price,
    model_options,
)
from veritrail_graph.api.cli.terminal import long_work, say

if TYPE_CHECKING:
    from veritrail_eval.app.building import Builder, WrittenRun

T = TypeVar("T")

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
_USUAL = SummaryOptions()


@dataclass(frozen=True)
class AskOptions:
    """Options of the model that is asked, and of its cost."""

    engine: EngineName = None
    model: Model = None
    prompts: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Prompts in place of ours: files STEP.VERSION.md."),
    ] = None
    budget: Budget = None
    max_calls: MaxCalls = None
    price: Price = None
    no_cache: NoCache = False


@dataclass(frozen=True)
class SummarySizes:
    """Options of summarising texts, as the command takes them."""

    chunk: ChunkTokens = _USUAL.chunk_tokens
    context: ContextTokens = _USUAL.context_tokens
    summary: Annotated[
        int, typer.Option(min=1, metavar="N", help="Tokens of a summary, at most.")
    ] = _USUAL.summary_tokens
    encoding: EncodingName = _USUAL.encoding
    no_context: Annotated[
        bool, typer.Option("--no-context", help="Merges are not given the summary before them.")
    ] = False

    @property
    def options(self) -> SummaryOptions:
        """The sizes as the application takes them."""
        return SummaryOptions(
            self.chunk, self.context, self.summary, self.encoding, not self.no_context
        )


def with_builder(how: AskOptions, work: Callable[[Builder], Awaitable[T]], *, as_json: bool) -> T:
    """Do work that asks a model, and show how far it is.

    Args:
        how: The model.
        work: The work.
        as_json: Whether the command prints JSON.
    """
    from veritrail_eval.app.building import Asking, Builder
    from veritrail_graph.api.settings import Settings

    asking = Asking(how.engine, model_options(vars(how)), how.prompts)

    async def shown() -> T:
        with long_work() as bar:
            builder = Builder(Settings(), asking, bar.update, lambda one: say(one, "yellow"))
            return await work(builder)

    return run_work(shown(), as_json=as_json)


def tell_run(one: WrittenRun) -> None:
    """Say what a process file holds."""
    stages = ", ".join(f"{count} of stage {stage}" for stage, count in one.stages.items())
    say(f"{len(one.document['nodes'])} nodes ({stages}) in {one.output}.", "bold")
