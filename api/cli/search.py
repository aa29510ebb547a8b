"""`veritrail search`: nodes and claims of all processes that hold some words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.cli import completion
from veritrail_graph.api.cli.exits import ask
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import LongWork, long_work, print_json, say, table
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.words import VERDICT_WORDS
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.search import Kind, SearchResult, SearchResults

_NAME = re.compile(r"[a-z]+(_[a-z]+)*")
"""A word that may be meant as the name of a query."""


def search(
    words: Annotated[
        list[str], typer.Argument(metavar="WORD…", help="Words, all of which are needed.")
    ],
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only `claim` or only `node`.")
    ] = None,
    process: Annotated[
        str | None,
        typer.Option(
            metavar="PROCESS",
            help="Only in this process.",
            autocompletion=completion.processes,
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=1_000, metavar="N", help="At most this many (default 20).")
    ] = 20,
    as_json: AsJson = False,
) -> None:
    """Search the texts of all processes.

    Words in quotation marks must be side by side; the last word may go on.
    """
    if kind not in (None, "node", "claim"):
        raise InputError(f"{kind!r} is no kind; there are: claim, node")
    wanted: Kind | None = "node" if kind == "node" else "claim" if kind == "claim" else None
    query = " ".join(words)

    async def found(app: Application, work: LongWork) -> SearchResults:
        await app.search.update(lambda done, all_: work.update("processes", done, all_, "indexed"))
        name = None if process is None else await app.names.process(process)
        return (
            await app.search.find(query, kind=wanted, process_id=name, limit=limit, patience=0)
        )[0]

    with long_work() as work:
        results = ask(lambda app: found(app, work), as_json=as_json)
    if as_json:
        print_json(results.model_dump(mode="json"))
        return
    if results.waiting:
        say(f"{results.waiting:,} process(es) are not in the index yet; search again.", "yellow")
    if not results.results:
        say("Nothing was found.")
        if len(words) > 1 and _NAME.fullmatch(words[0]):
            say(f"No query is called {words[0]} either; `veritrail ask --list` lists them.", "dim")
        return
    table(
        ("process", "what", "verdict", "text"),
        [
            (
                one.process_id,
                one.claim_id or one_line(one.node_id, 40),
                _verdict(one),
                one_line(one.excerpt),
            )
            for one in results.results
        ],
    )


def _verdict(one: SearchResult) -> str:
    """The verdict of a claim, and whether no model gave it; without one its status."""
    if one.verdict is None:
        return (one.status or "").replace("_", " ")
    mark = " (indicative)" if one.indicative else ""
    return f"{VERDICT_WORDS[Verdict(one.verdict)].lower()}{mark}"
